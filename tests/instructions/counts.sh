#!/usr/bin/env bash
# Counts the instructions of small calls and compares them with counts.txt: counts.sh FOLDER PROGRAM.
# More of them is a regression. Fewer, by as much, want a new line there.
set -euo pipefail
folder="$1" program="$2"
percent=3  # between releases of the C compiler, whose code around the kernels counts too

if ! command -v valgrind >/dev/null; then
  echo "valgrind is not installed; nothing counted"
  exit 77
fi
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

count() {  # count MODEL FUNCTION, which is attn_forward or attn_backward
  valgrind --tool=callgrind --callgrind-out-file="$scratch/out" --toggle-collect="attn_$2" \
    "$program" "$1" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; return 1; }
  sed -n 's/^\(summary\|totals\): //p' "$scratch/out" | head -1
}

failed=0
for model in attention layer; do
  for function in forward backward; do
    now="$(count "$model" "$function")"
    want="$(sed -n "s/^$model $function //p" "$folder/counts.txt")"
    printf '%s %s %s (was %s)\n' "$model" "$function" "$now" "${want:-not there}"
    if [[ -z "$want" ]] || ((now * 100 > want * (100 + percent) || now * 100 < want * (100 - percent)))
    then failed=1; fi
  done
done
((failed == 0)) || echo "counts.txt has other numbers: a regression, or an improvement to be written there"
exit "$failed"
