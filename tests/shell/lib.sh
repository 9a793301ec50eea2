# shellcheck shell=bash disable=SC2034
# Sourced by the tests of this folder, which are called with the checkout and the build folder.
set -euo pipefail

root="$1"
build="$2"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}
# expect STATUS COMMAND…: runs it with its output in $output, and compares the exit status.
expect() {
  local wanted="$1" status=0
  shift
  output="$("$@" 2>&1 </dev/null)" || status=$?
  [[ $status -eq $wanted ]] ||
    fail "exit status $status instead of $wanted: $*"$'\n'"$output"
}
expect_text() {  # expect_text TEXT: the last output has it.
  [[ $output == *"$1"* ]] || fail "no \"$1\" in:"$'\n'"$output"
}
finish() {
  ((failures == 0)) && printf 'all as expected\n'
  exit $((failures != 0))
}
