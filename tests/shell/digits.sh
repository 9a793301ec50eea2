#!/usr/bin/env bash
# The digits example in short: five epochs learn nine digits of ten, weights that were saved and read
# back know as much (or the program fails), and the pictures are whole.
source "$(dirname "$0")/lib.sh" "$@"

expect 0 "$build/bin/digits" "$root/examples/digits" "$scratch" 5
read_back="$(sed -n 's/^accuracy on 359 held-out digits: .* read back: \([0-9.]*\) %$/\1/p' <<<"$output")"
awk -v part="${read_back:-0}" 'BEGIN { exit !(part >= 90) }' || fail "reads too few digits:"$'\n'"$output"

for picture in loss attention; do
  file="$scratch/$picture.svg"
  [[ -s $file && "$(tail -c 7 "$file")" == "</svg>" ]] || fail "$picture.svg is missing or cut off"
  if grep -q 'nan\|inf' "$file"; then fail "$picture.svg has places that are no numbers"; fi
done
# A file that is no place for results ends the program with a word, not with a picture.
expect 1 "$build/bin/digits" "$root/examples/digits" "$scratch/loss.svg" 1
expect 2 "$build/bin/digits"
expect_text "usage: digits"
finish
