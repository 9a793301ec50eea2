#!/usr/bin/env bash
# Tests kernels on a GPU: tools/test-gpu.sh [--device DEVICE] [--filter FILTER] [--jobs N]
# DEVICE is cuda (which it is without a choice), cuda:1, opencl, …; FILTER chooses among the kernel
# tests as --gtest_filter does; N processes, by default one a processor, compile them and share the
# device. It needs what is built, the device's driver and a C compiler.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="${ATTN_BUILD:-$root/build}"
device=cuda
filter='*'
jobs="$(nproc)"
usage() { printf 'tools/test-gpu.sh: %s\n' "$1" >&2; exit 2; }
while (($#)); do
  case "$1" in
    --device) (($# > 1)) || usage '--device takes a device'; device="$2"; shift ;;
    --filter) (($# > 1)) || usage '--filter takes a filter'; filter="$2"; shift ;;
    --jobs)
      [[ ${2:-} =~ ^[1-9][0-9]{0,3}$ ]] || usage '--jobs takes a number, 1 to 9999'
      jobs="$2"
      shift
      ;;
    -h | --help) sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;;
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

# Tests of the kernels against the evaluator, in processes of a few tests each: a device that is lost
# takes those after it along. Others than the first GPU are for CUDA_VISIBLE_DEVICES to choose.
target="${device%%:*}"
[[ $target == cuda ]] && target=cuda-sm80
tests="$("$build/bin/attn_test_kernels" --gtest_list_tests --gtest_filter="$filter" | grep -c '^  ' || true)"
((tests)) || usage "no kernel test is called $filter"
parts=$(((tests + 3) / 4))
# part K: one of the processes; its output is a file, and its status the last line of that.
part() {
  local status=0
  env ATTN_TEST_TARGET="$target" ATTN_TEST_MIRROR=1 GTEST_TOTAL_SHARDS="$parts" GTEST_SHARD_INDEX="$1" \
    "$build/bin/attn_test_kernels" --gtest_filter="$filter" >"$scratch/part.$1" 2>&1 </dev/null ||
    status=$?
  printf 'status %s\n' "$status" >>"$scratch/part.$1"
}
for ((k = 0; k < parts; ++k)); do
  while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
  part "$k" &
done
wait
for ((k = 0; k < parts; ++k)); do
  out="$scratch/part.$k"
  status="$(sed -n '$s/^status //p' "$out")"
  mapfile -t names < <(sed -n 's/^\[       OK \] \([^ ,]*\).*/\1/p' "$out")
  passed=$((passed + ${#names[@]}))
  ((status)) || continue
  # What failed, and what ran when the process ended.
  mapfile -t names < <(sed -n 's/^\[  FAILED  \] \([^ ,]*\).* ms)$/\1/p' "$out")
  last="$(sed -n 's/^\[ RUN      \] //p' "$out" | tail -n 1)"
  grep -q "^\[ .* \] $last[ ,].* ms)$" "$out" || names+=("$last, which ended the process with status $status")
  for name in "${names[@]}"; do
    failed+=("$name")
    printf 'FAILED  %s\n' "$name"
  done
  sed 's/^/        /' "$out" | tail -n 40
done
printf 'passed  %s kernel tests\n' "$passed"

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
