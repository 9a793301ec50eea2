#!/usr/bin/env bash
# Builds everything and runs the tests: tools/test.sh [--sanitize] [FILTER]
# FILTER is a regular expression over the names of the tests. With --sanitize everything is built
# with the address and undefined behaviour sanitizers, in a folder of its own.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="$root/build"
options=(-DATTN_SANITIZE=OFF)
seconds=2700  # that a test may take; on two slow processors the longest takes 1000
filter=()
for argument in "$@"; do
  case "$argument" in
    --sanitize)
      build="$root/build-sanitize"; options=(-DATTN_SANITIZE=ON); seconds=7200
      # The search for leaks of g++ 12 takes some thread-local blocks for those of an old glibc and
      # falls over them, now and then (github.com/google/sanitizers, issue 1322).
      export ASAN_OPTIONS="intercept_tls_get_addr=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" ;;
    -h | --help) sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;;
    -*) printf 'tools/test.sh: unknown option %s\n' "$argument" >&2; exit 2 ;;
    *)
      if ((${#filter[@]})); then printf 'tools/test.sh: one filter at most\n' >&2; exit 2; fi
      filter=(-R "$argument") ;;
  esac
done

"$root/tools/setup.sh"
"$root/tools/setup_gpu_tests.sh"
jobs="$(nproc)"
cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release "${options[@]}" --log-level=WARNING
cmake --build "$build" --parallel "$jobs"
exec ctest --test-dir "$build" --output-on-failure --no-tests=error --timeout "$seconds" \
  --parallel "$jobs" "${filter[@]}" </dev/null
