#!/usr/bin/env bash
# The documents say what is so: each command prints what stands below it, and what they name is there.
#
# A block ```console is a line `$ COMMAND` and what the command prints. A line `…` stands for any number
# of lines, none among them.
source "$(dirname "$0")/lib.sh" "$@"

# Commands run in a folder that looks like the checkout but keeps what they write.
mkdir "$scratch/checkout"
ln -s "$root"/* "$scratch/checkout/"
rm -f "$scratch/checkout/build"
ln -s "$build" "$scratch/checkout/build"
run_console_blocks "$root/docs/how-it-works.md" "$scratch/checkout" "$build/bin"
((ran >= 5)) || fail "only $ran commands were found"
# What is built with the sanitizers asks for them wherever it is linked.
nm "$build/lib/libattn_rt.a" | grep -q __asan && export LDFLAGS=-fsanitize=address,undefined
run_console_blocks "$root/docs/install.md" "$scratch/checkout" "$build/bin"

for page in "$root"/*.md "$root"/docs/*.md; do
  folder="$(dirname "$page")"
  # shellcheck disable=SC2016
  while IFS= read -r link; do
    [[ $link == http* || -e $folder/$link ]] || fail "$(basename "$page") names a file that is not there: $link"
  done < <(grep -oE '\]\([^)# ]+[)#]' "$page" | sed 's/^..//; s/.$//')
  # shellcheck disable=SC2016
  while IFS= read -r path; do
    compgen -G "$root/$path" >/dev/null || fail "$(basename "$page") names a file that is not there: $path"
  done < <(grep -oE '`(bench|compiler|docs|dsl|examples|generated|runtime|tests|tools)/[^` ]*`' "$page" |
           tr -d '`')
done

# What the tests of quotations are worth.
printf 'a\nb\nc\nd\n' >"$scratch/printed"
refused() {
  printf '%s\n' "$@" >"$scratch/quoted"
  quoted_in "$scratch/quoted" "$scratch/printed" >/dev/null && fail "taken for a quotation: $*"
  return 0
}
refused a b c
refused b c d
refused a … c
refused … d c …
refused a x …
for lines in $'a\nb\nc\nd' $'…\nb\n…' $'a\n…\nd' $'…\nc\nd' $'a\n…\nc\n…'; do
  printf '%s\n' "$lines" >"$scratch/quoted"
  quoted_in "$scratch/quoted" "$scratch/printed" >/dev/null || fail "no quotation: $lines"
done
finish
