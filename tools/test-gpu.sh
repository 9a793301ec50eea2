#!/usr/bin/env bash
# Tests kernels on a GPU: tools/test-gpu.sh [--device DEVICE] [--filter FILTER]
# DEVICE is cuda (which it is without a choice), cuda:1, opencl, …; FILTER chooses among the kernel
# tests as --gtest_filter does. It needs what is built, the device's driver and a C compiler.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="${ATTN_BUILD:-$root/build}"
device=cuda
filter='*'
usage() { printf 'tools/test-gpu.sh: %s\n' "$1" >&2; exit 2; }
while (($#)); do
  case "$1" in
    --device) (($# > 1)) || usage '--device takes a device'; device="$2"; shift ;;
    --filter) (($# > 1)) || usage '--filter takes a filter'; filter="$2"; shift ;;
    -h | --help) sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) usage "unknown option $1" ;;
  esac
  shift
done
for program in attnc attn_test_kernels; do
  [[ -x $build/bin/$program ]] || usage "$build/bin/$program is not built"
done

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=()
# attempt NAME COMMAND…: runs it; its output is shown where it fails.
attempt() {
  local name="$1"
  shift
  if "$@" >"$scratch/output" 2>&1 </dev/null; then
    passed=$((passed + 1))
    printf 'passed  %s\n' "$name"
  else
    failed+=("$name")
    printf 'FAILED  %s\n' "$name"
    sed 's/^/        /' "$scratch/output" | tail -n 40
  fi
}

# Whether there is such a device is what the first call says.
cat >"$scratch/scale.attn" <<'EOF'
size T

model scale(x: [T]) -> y {
  y[i] = 2 * x[i]
}
EOF
if ! "$build/bin/attnc" bench "$scratch/scale.attn" --size T=5 --seconds 0 --device "$device" \
  >/dev/null 2>"$scratch/why"; then
  cat "$scratch/why" >&2
  exit 3
fi

# Tests of the kernels against the evaluator, a process for each suite: a device that is lost takes
# those after it along. Others than the first GPU are for CUDA_VISIBLE_DEVICES to choose.
target="${device%%:*}"
[[ $target == cuda ]] && target=cuda-sm80
mapfile -t suites < <("$build/bin/attn_test_kernels" --gtest_list_tests --gtest_filter="$filter" |
                      sed -n 's/^\([A-Za-z][A-Za-z0-9/]*\)\..*/\1/p' | sort -u)
((${#suites[@]})) || usage "no kernel test is called $filter"
for suite in "${suites[@]}"; do
  # Filters have one part of what is excluded, at the end.
  [[ $filter == '*' ]] && chosen="$suite.*" || chosen="$filter"
  [[ $filter == '*' ]] && name="kernel tests $suite" || name="kernel tests $filter"
  attempt "$name" env ATTN_TEST_TARGET="$target" ATTN_TEST_MIRROR=1 \
    "$build/bin/attn_test_kernels" --gtest_filter="$chosen"
  [[ $filter == '*' ]] || break
done

# The examples' models, forward and backward.
bench() { attempt "example $1" "$build/bin/attnc" bench "$root/examples/$1" --device "$device" "${@:2}"; }
if [[ $filter == '*' ]]; then
  bench digits/digits.attn --model digits --size B=64
  bench attention/attention.attn --size B=2 --size T=512
  bench charlm/charlm.attn --model charlm --size B=4 --size T=64 --size V=60
  bench gelu/gelu.attn --model gelu_by_tanh --size N=4096
fi

printf '%s: %d passed, %d failed\n' "$device" "$passed" "${#failed[@]}"
for name in "${failed[@]}"; do printf '  %s\n' "$name"; done
((${#failed[@]} == 0))
