#!/usr/bin/env bash
# The recipes of docs/extending.md: each patch applies to the sources as they are, and touches as many
# files as the page says; goldens of tests do not count. With ATTN_TEST_RECIPES=1 in the environment each
# patched tree is built, which takes minutes, and the commands of its section print what the page says.
source "$(dirname "$0")/lib.sh" "$@"
page="$root/docs/extending.md"
tree="$scratch/tree"

mkdir "$tree"
tar -C "$root" --exclude='./build*' --exclude=./.git --exclude=./.deps --exclude=./bench/.venv -c . | tar -C "$tree" -x
ln -s "$root/.deps" "$tree/.deps"

section_of() {  # section_of NAME: the part of the page under the heading above its patch.
  awk -v patch="(extending/$1.patch)" '/^## / { if (found) exit; text = "" }
    { text = text $0 "\n"; if (/^Patch: / && index($0, patch)) found = 1 }
    END { if (found) printf "%s", text }' "$page"
}

build_and_run() {  # build_and_run NAME: of the patched tree.
  expect 0 cmake -G Ninja -S "$tree" -B "$tree/build" -DCMAKE_BUILD_TYPE=Release --log-level=WARNING
  expect 0 cmake --build "$tree/build" --parallel "$(nproc)" --target attnc
  section_of "$1" >"$scratch/section"
  run_console_blocks "$scratch/section" "$tree" "$tree/build/bin"
}

recipes=0
while read -r name files; do
  patch="$root/docs/extending/$name.patch"
  touched="$(sed -n 's/^+++ b\///p' "$patch" | grep -vc '^tests/')"
  [[ $touched -eq $files ]] || fail "$name.patch touches $touched files; the page says $files"
  expect 0 git -C "$tree" apply --check "$patch"
  recipes=$((recipes + 1))
  [[ ${ATTN_TEST_RECIPES:-} == 1 ]] || continue
  expect 0 git -C "$tree" apply "$patch"
  build_and_run "$name"
  expect 0 git -C "$tree" apply --reverse "$patch"
done < <(sed -n 's/^Patch: .*(extending\/\([a-z]*\)\.patch), \([0-9]*\) files\{0,1\}\..*/\1 \2/p' "$page")
((recipes == $(find "$root/docs/extending" -name '*.patch' | wc -l))) ||
  fail "the page names $recipes patches, not as many as there are"
finish
