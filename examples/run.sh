#!/usr/bin/env bash
# Sets up, builds and runs one example; what it writes is in build/NAME. Further words go to the program.
#   examples/run.sh gelu | digits | charlm | attention_as_convolution | translate_shapes | reversal | many
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="$root/build"
name="${1:-}"
[[ $name =~ ^[a-z_]+$ && -f $root/examples/$name/$name.cpp ]] || {
  sed -n '3s/^# */usage: /p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
shift
# Two processes of one thread each.
launch=()
if [[ $name == many ]]; then
  launch=(mpirun -n 2)
  command -v mpirun >/dev/null || {
    echo 'examples/run.sh: many needs MPI: apt-get install libopenmpi-dev openmpi-bin' >&2
    exit 1
  }
fi
# What a program reads unless it is told otherwise.
case $name in
  digits | many | attention_as_convolution) data=("$root/examples/digits") ;;
  charlm) data=("$root/examples/charlm/shakespeare.txt") ;;
  *) data=() ;;
esac

"$root/tools/setup.sh"
cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release --log-level=WARNING
cmake --build "$build" --parallel "$(nproc)" --target attnc "$name"
mkdir -p "$build/$name"
exec "${launch[@]}" "$build/bin/$name" "${data[@]}" "$build/$name" "$@"
