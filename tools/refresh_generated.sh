#!/usr/bin/env bash
# Writes generated/ anew: the text that the compiler makes of the models in examples/. To be run after
# a change to them or to the compiler, and its diff to be read.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="$root/build"

"$root/tools/setup.sh"
cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release --log-level=WARNING
cmake --build "$build" --parallel "$(nproc)" --target attn_test_generated
ATTN_UPDATE_GOLDENS=1 "$build/bin/attn_test_generated" --gtest_brief=1
