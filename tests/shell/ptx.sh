#!/usr/bin/env bash
# The PTX of kernels of all forms assembles, and keeps nothing in local memory: all indices of arrays
# in registers are numbers. What does not fit into 255 registers is spilled, in tiles only.
source "$(dirname "$0")/lib.sh" "$@"

ptxas="$(command -v ptxas || true)"
[[ -n $ptxas ]] || ptxas="$root/.deps/ptxas/nvidia/cuda_nvcc/bin/ptxas"
if [[ ! -x $ptxas ]]; then
  printf 'skipped: there is no ptxas; tools/setup_gpu_tests.sh fetches it\n'
  exit 77
fi

cat >"$scratch/halves.attn" <<'A'
size N, M
train model halves(x: f16[N, M], table: bf16[M, 64], token: int[N]) -> y: f16, z, n: f64 {
  param w: [M, 64]
  y[i,e] = table[token[i], e] * sum[j] x[i,j] * w[j,e]
  z[i] = logsumexp[j] x[i,j]
  n = sum[i,j] x[i,j] ^ 2
}
A

cat >"$scratch/attended.attn" <<'A'
size B, T, E = 64
train model attended(q: bf16[B, T, E], k: bf16[B, T, E], v: bf16[B, T, E]) -> z {
  s[b,i,j] = sum[e] q[b,i,e] * k[b,j,e] / 8
  p[b,i,j] = softmax[j where j <= i] (s[b,i,j])
  z[b,i,e] = sum[j] p[b,i,j] * v[b,j,e]
}
A

most_spilled=256 # bytes of a thread

# check FILE [OPTION...]: every kernel of the models of a file, for the first GPUs that have tensor
# cores and for Hopper.
check() {
  local file="$1" kernel kernels=0 architecture spilled
  rm -f "$scratch"/*.ptx
  "$build/bin/attnc" emit --stage=device --target cuda-sm80 "$@" 2>/dev/null |
    awk -v folder="$scratch" '/^\/\/ (forward|backward|probe)/ { ++n } { print > sprintf("%s/%d.ptx", folder, n) }'
  for kernel in "$scratch"/*.ptx; do
    kernels=$((kernels + 1))
    for architecture in sm_80 sm_90a; do
      output="$("$ptxas" -arch=$architecture -v -o "$scratch/cubin" "$kernel" 2>&1)" ||
        fail "$(head -n 1 "$kernel") of $file does not assemble for $architecture:"$'\n'"$output"
      spilled="$(sed -En 's/^ *([0-9]+) bytes stack frame.*/\1/p' <<<"$output" | sort -n | tail -n 1)"
      if ((spilled > 0)) && ! head -n 1 "$kernel" | grep -Eq ' (tiles|streaming) ' ||
        ((spilled > most_spilled)); then
        fail "$(head -n 1 "$kernel") of $file uses local memory on $architecture:"$'\n'"$output"
      fi
    done
    grep -q 'st.global' "$kernel" || fail "$(head -n 1 "$kernel") of $file stores nothing"
  done
  printf '%s: %d kernels, %d products of tensor cores\n' "$(basename "$file") ${*:2}" "$kernels" \
    "$(cat "$scratch"/*.ptx | grep -c mma.sync)"
  ((kernels > 0)) || fail "no kernels of $file"
}

check "$root/docs/example.attn"
check "$root/examples/attention/attention.attn"
check "$root/examples/attention/attention.attn" --matmul-precision highest
[[ $(cat "$scratch"/*.ptx | grep -c mma.sync) == 0 ]] || fail "exact products are on tensor cores"
check "$root/examples/attention/attention.attn" --matmul-precision medium
[[ $(cat "$scratch"/*.ptx | grep -c mma.sync) != 0 ]] || fail "products are not on tensor cores"
check "$scratch/halves.attn"
check "$scratch/attended.attn"
grep -q 'm16n8k16.row.col.f32.bf16' "$scratch"/*.ptx || fail "no halves on tensor cores"
check "$scratch/attended.attn" --matmul-precision medium
if grep -h mma.sync "$scratch"/*.ptx | grep -qv 'm16n8k16.row.col.f32.bf16'; then
  fail "medium precision has other products than of bf16"
fi
finish
