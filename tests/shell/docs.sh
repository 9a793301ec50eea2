#!/usr/bin/env bash
# The documents say what is so: each command prints what stands below it, and what they name is there.
#
# A block ```console is a line `$ COMMAND` and what the command prints. A line `…` stands for any number
# of lines, none among them. A block after `<!-- file NAME -->` is a file that later commands need; one
# after `<!-- from NAME -->` is an excerpt of that file.
source "$(dirname "$0")/lib.sh" "$@"

# Commands run in a folder that looks like the checkout but keeps what they write; those of a tutorial in
# one of their own, where $ATTN is the checkout.
mkdir "$scratch/checkout" "$scratch/programs"
ln -s "$root"/* "$scratch/checkout/"
rm -f "$scratch/checkout/build"
mkdir "$scratch/checkout/build"
ln -s "$build"/{bin,lib,include,package,*.cmake,runtime,compiler,dsl} "$scratch/checkout/build/"
export ATTN="$scratch/checkout"
# Programs that link a runtime with sanitizers need them, too.
if grep -q '^ATTN_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then
  for compiler in cc c++; do
    printf '#!/bin/sh\nexec %s -fsanitize=address,undefined "$@"\n' "$(command -v "$compiler")" \
      >"$scratch/programs/$compiler"
    chmod +x "$scratch/programs/$compiler"
  done
fi

# extending.md is for recipes.sh, many.md for many.sh: it needs MPI.
for page in "$root"/docs/*.md; do
  name="$(basename "$page" .md)"
  [[ $name == extending || $name == many ]] && continue
  folder="$scratch/checkout"
  if grep -q '^<!-- file ' "$page"; then
    folder="$scratch/$name"
    mkdir "$folder"
  fi
  run_console_blocks "$page" "$folder" "$scratch/programs:$build/bin"
done
((ran >= 5)) || fail "only $ran commands were found"

# excerpts PAGE: the blocks after `<!-- from NAME -->`, each after a line `> NAME`.
excerpts() {
  awk '/^<!-- from .* -->$/ { file = $3 }
       $0 == "```" && inside { if (taken) printf "%c", 0; inside = 0; next }
       inside && taken { print }
       /^```./ && !inside { inside = 1; taken = file != ""; if (taken) print "> " file; file = "" }' "$1"
}
for page in "$root"/*.md "$root"/docs/*.md; do
  while IFS= read -r -d '' block; do
    file="${block%%$'\n'*}"
    lines_in_order "$root/${file#> }" <<<"${block#*$'\n'}"
  done < <(excerpts "$page")
done

for page in "$root"/*.md "$root"/docs/*.md; do
  links_lead_somewhere "$page"
  # shellcheck disable=SC2016
  while IFS= read -r path; do
    compgen -G "$root/$path" >/dev/null || fail "$(basename "$page") names a file that is not there: $path"
  done < <(grep -oE '`(bench|compiler|docs|dsl|examples|generated|runtime|tests|tools)/[^` ]*`' "$page" |
           tr -d '`')
done

# The references name every function of the headers, and every public method of the classes.
while IFS= read -r name; do
  grep -qwF "$name" "$root/docs/c.md" || fail "c.md does not name $name"
done < <(sed -n 's/^[a-z].*[ *]\(attn_[a-z0-9_]*\)(.*/\1/p' \
  "$root"/runtime/include/attn/{attn,types,model,train,npy,array,safetensors,device}.h | sort -u)
while IFS= read -r name; do
  grep -qwF "$name" "$root/docs/cpp.md" || fail "cpp.md does not name $name"
done < <(for header in attn tensor states products; do
  sed -n '/^ private:/,/^};/d; s/^  [A-Za-z][A-Za-z:_<>&* ]*[ *&]\([a-z_]*\)(.*/\1/p' \
    "$root/runtime/include/attn/$header.hpp"
done | sort -u)

# Ratios and times of these pages are those of the benchmarks. The version of IREE, which was measured
# apart, is none.
for name in comparison performance; do
  while IFS= read -r number; do
    grep -qF "$number" "$root/bench/RESULTS.md" || fail "$name.md says $number, and RESULTS.md does not"
  done < <(sed 's/IREE [0-9.]*//' "$root/docs/$name.md" | grep -oE '[0-9]+\.[0-9]{2,}' | sort -u)
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
