#!/usr/bin/env bash
# The README says what is so: its commands run, its code is that of the examples, its gradient is what
# the compiler prints, and its links lead somewhere.
source "$(dirname "$0")/lib.sh" "$@"
readme="$root/README.md"

# blocks LANGUAGE: the lines of all fenced blocks in it.
blocks() {
  awk -v fence="\`\`\`$1" '$0 == "```" { inside = 0 } inside { print } $0 == fence { inside = 1 }' "$readme"
}

(($(wc -l <"$readme") <= 132)) || fail "the README is longer than 132 lines"

# Commands run in a folder that looks like the checkout but keeps what they write.
mkdir "$scratch/checkout"
ln -s "$root"/* "$scratch/checkout/"
rm -f "$scratch/checkout/build" "$scratch/checkout/generated"
ln -s "$build" "$scratch/checkout/build"
ran=0
while IFS= read -r command; do
  command="${command%%  #*}"
  command="${command%"${command##*[! ]}"}"
  case "$command" in
    "") continue ;;
    # This is run by the second, and another test runs the first.
    tools/demo.sh | tools/test.sh) [[ -x $root/$command ]] || fail "no such script: $command" ;;
    *) expect 0 bash -c "cd '$scratch/checkout' && $command" ;;
  esac
  ran=$((ran + 1))
done < <(blocks sh)
((ran >= 2)) || fail "only $ran commands were found"

blocks attn >"$scratch/attn"
# A second block in the language is an excerpt of the gradient and says so in its first line.
sed '/^# attnc emit --stage=gradient/,$d' "$scratch/attn" >"$scratch/model"
diff -u "$root/examples/attention/attention.attn" "$scratch/model" ||
  fail "the README's model is not that of examples/attention"
if grep -q '^# attnc emit --stage=gradient' "$scratch/attn"; then
  expect 0 "$build/bin/attnc" emit --stage=gradient "$root/examples/attention/attention.attn"
  printf '%s\n' "$output" >"$scratch/gradient"
  sed '1,/^# attnc emit --stage=gradient/d; s/ *#.*//' "$scratch/attn" | lines_in_order "$scratch/gradient"
fi
lines_in_order "$root/examples/attention/attention.cpp" < <(blocks cpp)

# shellcheck disable=SC2016
while IFS= read -r link; do
  [[ $link == http* || -e $root/$link ]] || fail "the README names a file that is not there: $link"
done < <(grep -oE '\]\([^)#]+' "$readme" | cut -c3-
         grep -oE '`(examples|dsl|tools|docs)/[^` ]*`' "$readme" | tr -d '`')
finish
