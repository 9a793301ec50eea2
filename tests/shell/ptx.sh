#!/usr/bin/env bash
# The PTX of kernels of all forms assembles for the first GPUs that have tensor cores and for Hopper.
# It keeps nothing in local memory: all indices of arrays in registers are numbers. What does not fit
# into 255 registers is spilled, in tiles only. A thread stores each of its results once. Registers
# and instructions are about those of the table in docs/gpu.md.
source "$(dirname "$0")/lib.sh" "$@"

kernels="$scratch/kernels"
mkdir "$kernels"
status=0
python3 "$root/tools/ptx_table.py" --build "$build" --quick --keep "$kernels" --check "$root/docs/gpu.md" ||
  status=$?
if ((status == 77)); then
  printf 'skipped\n'
  exit 77
fi
((status == 0)) || fail "tools/ptx_table.py says what"

# products TITLE: the instructions of tensor cores in a program's PTX, by what they multiply.
products() {
  cat "$kernels/$1"* |
    sed -n 's/^.*mma\.sync\.aligned\.\(m16n8k[0-9]*\)\.row\.col\.f32\.\([a-z0-9]*\).*/\1 \2/p' | sort -u
}
expect_products() {
  [[ $(products "$1") == "$2" ]] || fail "products of $1: $(products "$1"), not $2"
}
expect_products contraction,_f32,_highest ""
expect_products contraction,_f32,_high_ "m16n8k8 tf32"
expect_products contraction,_f32,_medium "m16n8k16 bf16"
expect_products contraction,_bf16 "m16n8k16 bf16"
expect_products causal_attention,_f32,_high "m16n8k8 tf32"
expect_products causal_attention,_bf16,_medium "m16n8k16 bf16"

cat >"$scratch/halves.attn" <<'A'
size N, M
train model halves(x: f16[N, M], table: bf16[M, 64], token: int[N]) -> y: f16, z, n: f64 {
  param w: [M, 64]
  y[i,e] = table[token[i], e] * sum[j] x[i,j] * w[j,e]
  z[i] = logsumexp[j] x[i,j]
  n = sum[i,j] x[i,j] ^ 2
}
A
expect 0 python3 "$root/tools/ptx_table.py" --build "$build" "$scratch/halves.attn"
finish
