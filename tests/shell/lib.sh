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
# console_blocks PAGE: the fenced blocks ```console of a page, each ended by a zero byte.
console_blocks() {
  awk '$0 == "```" && inside { inside = 0; printf "%c", 0 } inside { print }
       $0 == "```console" { inside = 1 }' "$1"
}
# quoted_in QUOTED PRINTED: whether the lines of QUOTED are those of PRINTED, where `…` is any number of
# lines; else fails and prints the first line that has no place.
quoted_in() {
  awk 'function is_there(k, at) {  # quoted[k..m] in the place of there[at..n]
      if (k > furthest) furthest = k
      if (k > m) return at > n
      if (quoted[k] != "…") return at <= n && there[at] == quoted[k] && is_there(k + 1, at + 1)
      for (; at <= n + 1; ++at) if (is_there(k + 1, at)) return 1
      return 0
    }
    FILENAME == ARGV[1] { quoted[++m] = $0; next }
    { there[++n] = $0 }
    END { if (!is_there(1, 1)) { print (furthest > m ? "the end" : quoted[furthest]); exit 1 } }' "$1" "$2"
}
# run_console_blocks PAGE FOLDER PROGRAMS: each block's command, run in FOLDER with PROGRAMS in front of
# the path, prints what stands below it. $ran counts them.
ran=0
run_console_blocks() {
  local block command difference
  while IFS= read -r -d '' block; do
    command="${block%%$'\n'*}"
    expect 0 env -C "$2" PATH="$3:$PATH" bash -c "${command#\$ }"
    # AddressSanitizer says this of Halide's own stacks, in a build with sanitizers.
    grep -v "WARNING: ASan doesn't fully support makecontext" <<<"$output" >"$scratch/printed" || true
    printf '%s' "${block#*$'\n'}" >"$scratch/quoted"
    difference="$(quoted_in "$scratch/quoted" "$scratch/printed")" ||
      fail "\`${command#\$ }\` does not print this: $difference"
    ran=$((ran + 1))
  done < <(console_blocks "$1")
}
