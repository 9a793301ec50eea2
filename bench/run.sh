#!/usr/bin/env bash
# Times ours beside other software and prints the tables: bench/run.sh [--quick] [--only TABLE,...]
# [--out DIR]. bench/setup.sh installs what is compared with. To renew bench/RESULTS.md on a quiet
# machine: bench/run.sh --out bench
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(dirname "$here")"
if [[ ! -x "$here/.venv/bin/python" ]]; then
  printf 'bench/run.sh: run bench/setup.sh first\n' >&2
  exit 3
fi
if [[ ! -f "$root/build/build.ninja" ]]; then
  cmake -G Ninja -S "$root" -B "$root/build" -DCMAKE_BUILD_TYPE=Release --log-level=WARNING
fi
cmake --build "$root/build" --target attnc attn_rt >&2
exec "$here/.venv/bin/python" "$here/bench.py" "$@"
