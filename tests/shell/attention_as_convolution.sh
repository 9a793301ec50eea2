#!/usr/bin/env bash
# Heads of attention are a convolution for a large alpha, for every width and dilation (or the program
# fails); a classifier learns from the digits, and from files like CIFAR-10's.
source "$(dirname "$0")/lib.sh" "$@"

expect 0 "$build/bin/attention_as_convolution" "$root/examples/digits" "$scratch" 3
part="$(sed -n 's/^held out: \([0-9.]*\) %.*/\1/p' <<<"$output")"
awk -v part="${part:-0}" 'BEGIN { exit !(part >= 50) }' || fail "reads too few digits:"$'\n'"$output"
for picture in limit centres; do
  file="$scratch/$picture.svg"
  [[ -s $file && "$(tail -c 7 "$file")" == "</svg>" ]] || fail "$picture.svg is missing or cut off"
  if grep -q 'nan\|inf' "$file"; then fail "$picture.svg has places that are no numbers"; fi
done

# Forty images of each file: a class, then red, green and blue of 1,024 pixels.
mkdir "$scratch/cifar"
for file in data_batch_1 test_batch; do
  for ((n = 0; n < 40; ++n)); do
    printf "\\x0$((n % 10))"
    head -c 3072 "$build/bin/attnc" | tr '\000' "\\$((n % 8))"
  done > "$scratch/cifar/$file.bin"
done
expect 0 "$build/bin/attention_as_convolution" "$scratch/cifar" "$scratch" 1
head -c 3073 "$build/bin/attnc" > "$scratch/cifar/test_batch.bin"
expect 1 "$build/bin/attention_as_convolution" "$scratch/cifar" "$scratch" 1
expect_text "a class is not one of 10"
head -c 100 "$build/bin/attnc" > "$scratch/cifar/test_batch.bin"
expect 1 "$build/bin/attention_as_convolution" "$scratch/cifar" "$scratch" 1
expect_text "no file of CIFAR-10's binary version"
expect 1 "$build/bin/attention_as_convolution" "$scratch" "$scratch"
expect 2 "$build/bin/attention_as_convolution"
finish
