#!/usr/bin/env bash
# The PTX of kernels of all forms assembles, keeps nothing in local memory and spills nothing.
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

# check FILE: every kernel of the models of a file.
check() {
  local file="$1" kernel kernels=0
  rm -f "$scratch"/*.ptx
  "$build/bin/attnc" emit --stage=device --target cuda-sm80 "$file" 2>/dev/null |
    awk -v folder="$scratch" '/^\/\/ (forward|backward|probe)/ { ++n } { print > sprintf("%s/%d.ptx", folder, n) }'
  for kernel in "$scratch"/*.ptx; do
    kernels=$((kernels + 1))
    output="$("$ptxas" -arch=sm_80 -v -o "$scratch/cubin" "$kernel" 2>&1)" ||
      fail "$(head -n 1 "$kernel") of $file does not assemble:"$'\n'"$output"
    if grep -Eq '[1-9][0-9]* bytes (stack frame|spill)' <<<"$output"; then
      fail "$(head -n 1 "$kernel") of $file uses local memory:"$'\n'"$output"
    fi
    grep -q 'st.global' "$kernel" || fail "$(head -n 1 "$kernel") of $file stores nothing"
  done
  printf '%s: %d kernels\n' "$(basename "$file")" "$kernels"
  ((kernels > 0)) || fail "no kernels of $file"
}

check "$root/docs/example.attn"
check "$root/examples/attention/attention.attn"
check "$scratch/halves.attn"
finish
