#!/usr/bin/env bash
# Brings what the tests of kernels for GPUs use where there is no GPU: PoCL, which runs OpenCL on the
# processor, and ptxas, which checks PTX. What cannot be had is said; its tests are then skipped.
set -uo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
ptxas_version=12.9.86
ptxas_sha256=5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0
folder="$root/.deps/ptxas"

say() { printf 'tools/setup_gpu_tests.sh: %s\n' "$*" >&2; }

if ! compgen -G "/etc/OpenCL/vendors/*.icd" >/dev/null; then
  if command -v apt-get >/dev/null && [[ $EUID -eq 0 ]] &&
    { apt-get update && env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      pocl-opencl-icd ocl-icd-libopencl1; } >/dev/null 2>&1 </dev/null; then
    say "installed PoCL"
  else
    say "no OpenCL device; tests of kernels through OpenCL are skipped (apt-get install pocl-opencl-icd)"
  fi
fi

if [[ ! -x $folder/nvidia/cuda_nvcc/bin/ptxas ]]; then
  partial="$(mktemp -d "$root/.deps/ptxas.XXXXXX")"
  trap 'rm -rf "$partial"' EXIT
  printf 'nvidia-cuda-nvcc-cu12==%s --hash=sha256:%s\n' "$ptxas_version" "$ptxas_sha256" >"$partial/r.txt"
  if env PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-input \
    --platform manylinux_2_17_x86_64 --platform manylinux2010_x86_64 --only-binary=:all: --no-deps \
    --require-hashes --requirement "$partial/r.txt" --target "$partial" >/dev/null 2>&1 </dev/null; then
    rm -rf "$folder"
    chmod 755 "$partial"
    mv "$partial" "$folder"
    trap - EXIT
  else
    say "no ptxas; the check of PTX is skipped"
  fi
fi
exit 0
