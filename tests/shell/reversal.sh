#!/usr/bin/env bash
# The reversal in short: three epochs of attention know more held-out letters than three without, and
# the pictures are whole. What a whole run reaches is in the example's README.
source "$(dirname "$0")/lib.sh" "$@"

expect 0 "$build/bin/reversal" "$scratch" 3
part() {  # part WORDS: the percentage of letters in the line that ends so.
  sed -n "s/^held out: \([0-9.]*\) % of letters.* $1\$/\1/p" <<<"$output"
}
awk -v with="$(part 'with attention')" -v without="$(part 'without attention')" \
  'BEGIN { exit !(without > 30 && with > without + 5) }' ||
  fail "attention has not learned more:"$'\n'"$output"
for picture in look accuracy; do
  file="$scratch/$picture.svg"
  [[ -s $file && "$(tail -c 7 "$file")" == "</svg>" ]] || fail "$picture.svg is missing or cut off"
  if grep -q 'nan\|inf' "$file"; then fail "$picture.svg has places that are no numbers"; fi
done
expect 1 "$build/bin/reversal" "$scratch/none" 1
expect 2 "$build/bin/reversal"
finish
