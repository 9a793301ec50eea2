#!/usr/bin/env bash
# The other scripts: that they are well-formed, executable, and refuse what they do not know.
source "$(dirname "$0")/lib.sh" "$@"

for script in "$root"/tools/*.sh "$root/examples/run.sh" "$root/.ci/run"; do
  expect 0 bash -n "$script"
  [[ -x $script ]] || fail "not executable: $script"
done
expect 2 "$root/tools/test.sh" --bogus
expect_text "unknown option --bogus"
expect 2 "$root/tools/test.sh" one two
expect_text "one filter at most"
expect 0 "$root/tools/test.sh" --help
expect_text "tools/test.sh [--sanitize] [FILTER]"
expect 0 "$root/tools/test-gpu.sh" --help
expect_text "tools/test-gpu.sh [--device DEVICE] [--filter FILTER] [--jobs N]"
expect 2 "$root/tools/test-gpu.sh" --bogus
expect_text "unknown option --bogus"
expect 2 env ATTN_BUILD="$scratch" "$root/tools/test-gpu.sh"
expect_text "attnc is not built"
expect 0 bash -n "$root/bench/gpu.sh"
[[ -x $root/bench/gpu.sh ]] || fail "not executable: bench/gpu.sh"
expect 0 "$root/bench/gpu.sh" --help
expect_text "bench/gpu.sh [--quick] [--only TEXT]"
expect 2 "$root/bench/gpu.sh" --bogus
expect_text "unknown option --bogus"
expect 2 "$root/bench/gpu.sh" --device opencl
expect_text "this benchmark is for cuda"
expect 3 env ATTN_BUILD="$scratch" "$root/bench/gpu.sh"
expect_text "attnc is not built"
expect 3 env ATTN_BUILD="$build" "$root/bench/gpu.sh" --device cuda:99
expect_text "bench/gpu.sh: attnc: --device cuda:99"
expect 2 "$root/tools/check_package.sh" nowhere
expect_text "tools/check_package.sh SYSTEM TARBALL [DEB]"
for name in "" nothing ../digits; do
  expect 2 "$root/examples/run.sh" $name
  expect_text "usage: examples/run.sh gelu | digits"
done
version="$(awk '/define ATTN_ABI_VERSION/ { print $3 }' "$root/runtime/include/attn/abi.h")"
grep -qx "ABI_VERSION = $version" "$root/python/attn/_library.py" ||
  fail "python/attn/_library.py follows another version of attn/abi.h than $version"
grep -q 'tools/test.sh' "$root/.ci/run" || fail ".ci/run does not call tools/test.sh"
finish
