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
# console_blocks PAGE: the fenced blocks ```console of a page, and those after a line `<!-- file NAME -->`,
# which get a line `> NAME` in front; each ended by a zero byte.
console_blocks() {
  awk '$0 == "```" && inside { if (taken) printf "%c", 0; inside = 0; next }
       inside && taken { print }
       /^<!-- file .* -->$/ { file = $3 }
       /^```./ && !inside {
         inside = 1
         taken = $0 == "```console" || file != ""
         if (file != "") print "> " file
         file = ""
       }' "$1"
}
# lines_in_order FILE: standard input's lines stand in the file, one after the other, but for blanks.
lines_in_order() {
  local line number=0
  mapfile -t there < <(sed 's/^ *//; s/ *$//; s/  */ /g' "$1")
  while IFS= read -r line; do
    line="$(sed 's/^ *//; s/ *$//; s/  */ /g' <<<"$line")"
    [[ -z $line ]] && continue
    while ((number < ${#there[@]})) && [[ ${there[number]} != "$line" ]]; do ((++number)); done
    ((number < ${#there[@]})) || { fail "not in $(basename "$1") at its place: $line"; return; }
  done
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
# links_lead_somewhere PAGE: what its relative links name is there.
links_lead_somewhere() {
  local link
  while IFS= read -r link; do
    [[ $link == http* || -e $(dirname "$1")/$link ]] ||
      fail "$(basename "$1") names a file that is not there: $link"
  done < <(grep -oE '(\]\(|src=")[^)# "]+[)#"]' "$1" | sed 's/^src="//; s/^](//; s/.$//')
}
# run_console_blocks PAGE FOLDER PROGRAMS: each block's command, run in FOLDER with PROGRAMS in front of
# the path, prints what stands below it; it may end in `# exit status N`. A file is written to FOLDER.
# $ran counts the commands.
ran=0
run_console_blocks() {
  local block command difference status
  while IFS= read -r -d '' block; do
    command="${block%%$'\n'*}"
    if [[ $command == '> '* ]]; then
      printf '%s' "${block#*$'\n'}" >"$2/${command#> }"
      continue
    fi
    status=0
    [[ $command =~ \#\ exit\ status\ ([0-9]+)$ ]] && status="${BASH_REMATCH[1]}"
    expect "$status" env -C "$2" PATH="$3:$PATH" bash -c "${command#\$ }"
    # AddressSanitizer says this of Halide's own stacks, in a build with sanitizers.
    grep -v "WARNING: ASan doesn't fully support makecontext" <<<"$output" >"$scratch/printed" || true
    # A command that prints nothing has nothing below it.
    [[ -n $output ]] || : >"$scratch/printed"
    printf '%s' "${block#*$'\n'}" >"$scratch/quoted"
    [[ $block == *$'\n'?* ]] || : >"$scratch/quoted"
    difference="$(quoted_in "$scratch/quoted" "$scratch/printed")" ||
      fail "\`${command#\$ }\` does not print this: $difference"
    ran=$((ran + 1))
  done < <(console_blocks "$1")
}
