#!/usr/bin/env bash
# Makes bench/.venv with the software that the benchmarks compare with, in the versions of
# RESULTS.md: what cannot be installed is listed at the end, and the tables show it as absent. Quick
# when all is there.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
venv="$here/.venv"
needed=(numpy==2.4.6 matplotlib==3.11.2 onnx==1.23.2)
peers=(torch==2.15.0 onnxruntime==1.31.1 jax==0.10.2 openvino==2026.4.1 iree==3.13.0)

[[ -x "$venv/bin/python" ]] || python3 -m venv "$venv"
export PIP_DISABLE_PIP_VERSION_CHECK=1

is_there() { "$venv/bin/python" -c "import importlib.util as u; exit(u.find_spec('$1') is None)"; }

install() {  # install PACKAGE==VERSION
  local name="${1%%==*}"
  is_there "$name" && return
  # PyTorch's own index has builds without CUDA, a tenth of the size of those on PyPI.
  if [[ "$name" == torch ]] &&
     "$venv/bin/pip" install --quiet --index-url https://download.pytorch.org/whl/cpu "$1" \
       >/dev/null 2>&1; then
    return
  fi
  local packages=("$1")
  [[ "$name" != iree ]] || packages=("iree-base-compiler${1#iree}" "iree-base-runtime${1#iree}")
  "$venv/bin/pip" install --quiet "${packages[@]}"
}

for package in "${needed[@]}"; do install "$package"; done
absent=()
for package in "${peers[@]}"; do install "$package" || absent+=("$package"); done
if ((${#absent[@]})); then
  printf 'bench/setup.sh: not installed, so not compared with: %s\n' "${absent[*]}" >&2
fi
