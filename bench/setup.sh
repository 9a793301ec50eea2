#!/usr/bin/env bash
# Makes bench/.venv with the software that the benchmarks compare with: what cannot be installed is
# listed at the end, and the tables show it as absent. Quick when all is there.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
venv="$here/.venv"
needed=(numpy matplotlib onnx)
peers=(torch onnxruntime jax openvino iree)

[[ -x "$venv/bin/python" ]] || python3 -m venv "$venv"
export PIP_DISABLE_PIP_VERSION_CHECK=1

is_there() { "$venv/bin/python" -c "import importlib.util as u; exit(u.find_spec('$1') is None)"; }

install() {  # install PACKAGE
  is_there "$1" && return
  # PyTorch's own index has builds without CUDA, a tenth of the size of those on PyPI.
  if [[ "$1" == torch ]] &&
     "$venv/bin/pip" install --quiet --index-url https://download.pytorch.org/whl/cpu torch \
       >/dev/null 2>&1; then
    return
  fi
  local packages=("$1")
  [[ "$1" != iree ]] || packages=(iree-base-compiler iree-base-runtime)
  "$venv/bin/pip" install --quiet "${packages[@]}"
}

for package in "${needed[@]}"; do install "$package"; done
absent=()
for package in "${peers[@]}"; do install "$package" || absent+=("$package"); done
if ((${#absent[@]})); then
  printf 'bench/setup.sh: not installed, so not compared with: %s\n' "${absent[*]}" >&2
fi
