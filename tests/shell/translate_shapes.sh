#!/usr/bin/env bash
# The translation in short: some steps make the loss fall below that of guessing, log 8, and the picture
# is whole. What a whole run reaches is in the example's README.
source "$(dirname "$0")/lib.sh" "$@"

expect 0 "$build/bin/translate_shapes" "$scratch" 200
loss="$(sed -n 's/^step *200: loss //p' <<<"$output")"
awk -v loss="${loss:-9}" 'BEGIN { exit !(loss < 1.5) }' || fail "has learned too little:"$'\n'"$output"
file="$scratch/look.svg"
[[ -s $file && "$(tail -c 7 "$file")" == "</svg>" ]] || fail "look.svg is missing or cut off"
if grep -q 'nan\|inf' "$file"; then fail "look.svg has places that are no numbers"; fi
expect 1 "$build/bin/translate_shapes" "$scratch/none" 1
expect 2 "$build/bin/translate_shapes"
finish
