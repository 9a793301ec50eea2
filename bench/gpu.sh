#!/usr/bin/env bash
# Times attention on a GPU beside PyTorch's and prints the table: bench/gpu.sh [--quick] [--only TEXT]
# [--beside NAME,…] [--device cuda:N]. It needs what is built, NVIDIA's driver, a C compiler, and a Python
# that has NumPy and PyTorch: that of $ATTN_PYTHON, of bench/setup.sh, or of the path. Where one of these
# is missing it says so, with status 3. Where ours is wrong or refused, the status is 1.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
build="${ATTN_BUILD:-$(dirname "$here")/build}"
device=cuda
missing() { printf 'bench/gpu.sh: %s\n' "$1" >&2; exit 3; }
usage() { printf 'bench/gpu.sh: %s\n' "$1" >&2; exit 2; }
arguments=("$@")
while (($#)); do
  case "$1" in
    --device) (($# > 1)) || usage '--device takes a device'; device="$2"; shift ;;
    --only) (($# > 1)) || usage '--only takes a text'; shift ;;
    --beside) (($# > 1)) || usage '--beside takes names'; shift ;;
    --quick) ;;
    -h | --help) sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) usage "unknown option $1" ;;
  esac
  shift
done
[[ $device =~ ^cuda(:[0-9]+)?$ ]] || usage "--device $device: this benchmark is for cuda"
[[ -x $build/bin/attnc ]] || missing "$build/bin/attnc is not built"

# Whether there is such a device is what the first call says.
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
printf 'size T\n\nmodel scale(x: [T]) -> y {\n  y[i] = 2 * x[i]\n}\n' >"$scratch/scale.attn"
"$build/bin/attnc" bench "$scratch/scale.attn" --size T=5 --seconds 0 --device "$device" \
  >/dev/null 2>"$scratch/why" || missing "$(head -n 1 "$scratch/why")"

for python in "${ATTN_PYTHON:-}" "$here/.venv/bin/python" python3 /usr/bin/python3; do
  [[ -n $python ]] || continue
  "$python" -c 'import numpy, torch' >/dev/null 2>&1 || continue
  ATTN_BUILD="$build" "$python" "$here/gpu.py" "${arguments[@]}"
  exit
done
missing 'no Python of this machine has NumPy and PyTorch'
