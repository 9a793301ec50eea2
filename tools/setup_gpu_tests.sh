#!/usr/bin/env bash
# Brings what the tests of kernels for GPUs use where there is no GPU: PoCL, which runs OpenCL on the
# processor, ptxas, which checks PTX, and nvdisasm, which prints what ptxas makes of it. What cannot be
# had is said; its tests are then skipped.
set -uo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
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

# fetch NAME PACKAGE VERSION SHA256: a program of a package of NVIDIA's, into .deps/NAME.
fetch() {
  local folder="$root/.deps/$1" partial
  compgen -G "$folder/nvidia/*/bin/$1" >/dev/null && return
  partial="$(mktemp -d "$root/.deps/$1.XXXXXX")"
  printf '%s==%s --hash=sha256:%s\n' "$2" "$3" "$4" >"$partial/r.txt"
  if env PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-input \
    --platform manylinux_2_17_x86_64 --platform manylinux2010_x86_64 --platform manylinux2014_x86_64 \
    --only-binary=:all: --no-deps --require-hashes --requirement "$partial/r.txt" --target "$partial" \
    >/dev/null 2>&1 </dev/null; then
    rm -rf "$folder"
    chmod 755 "$partial"
    chmod +x "$partial"/nvidia/*/bin/*
    mv "$partial" "$folder"
  else
    rm -rf "$partial"
    say "no $1; what it checks of PTX is skipped"
  fi
}

# The figures of docs/gpu.md are of these.
fetch ptxas nvidia-cuda-nvcc-cu12 12.9.86 5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0
fetch nvdisasm nvidia-cuda-nvdisasm 13.5.37 d3fdbdd49fa53e2e4aacd3db8259d052bd2b049ececdcb69e92e083c6728e7ca
exit 0
