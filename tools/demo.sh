#!/usr/bin/env bash
# The main job on real input: compiles a small transformer for handwritten digits, trains it, and
# writes pictures of how the loss fell and of what the model looks at. Training takes some ten seconds;
# the first run builds the compiler before, which takes about five minutes on two processors.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="$root/build"
out="$build/digits"

"$root/tools/setup.sh"
cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release --log-level=WARNING
cmake --build "$build" --parallel "$(nproc)" --target attnc digits
mkdir -p "$out"
exec "$build/bin/digits" "$root/examples/digits" "$out"
