#!/usr/bin/env bash
# The letter model in short: forty steps learn more than how often each letter comes, a run that was
# stopped and goes on ends with the same bits, and what is no text is refused.
source "$(dirname "$0")/lib.sh" "$@"

head -c 40000 "$root/examples/charlm/shakespeare.txt" > "$scratch/text"
mkdir "$scratch/whole" "$scratch/parts"
expect 0 "$build/bin/charlm" "$scratch/text" "$scratch/whole" 40
loss="$(sed -n 's/^held out: \([0-9.]*\) nats a letter .*/\1/p' <<<"$output")"
# Guessing by frequencies alone costs 3.3 nats a letter; the rate is still rising when this run ends.
awk -v loss="${loss:-9}" 'BEGIN { exit !(loss < 3.2) }' || fail "has learned too little:"$'\n'"$output"

expect 0 "$build/bin/charlm" "$scratch/text" "$scratch/parts" 40 15
expect 0 "$build/bin/charlm" "$scratch/text" "$scratch/parts" 40
expect_text "goes on after step 15"
for file in charlm training; do
  cmp "$scratch/whole/$file.safetensors" "$scratch/parts/$file.safetensors" ||
    fail "$file.safetensors differs after going on"
done
file="$scratch/whole/loss.svg"
[[ -s $file && "$(tail -c 7 "$file")" == "</svg>" ]] || fail "loss.svg is missing or cut off"

head -c 100 "$scratch/text" > "$scratch/short"
expect 1 "$build/bin/charlm" "$scratch/short" "$scratch/whole"
expect_text "shorter than"
expect 1 "$build/bin/charlm" "$scratch/none" "$scratch/whole"
expect 2 "$build/bin/charlm"
finish
