#!/usr/bin/env bash
# Runs a test of the Python package: run.sh CHECKOUT BUILD "MODULES" TEST.py [ARGUMENTS]. It is skipped,
# aloud, where no Python of this machine has the modules: those of $ATTN_PYTHON, of bench/setup.sh, of the
# path and of the system are tried.
set -euo pipefail

root="$1" build="$2" modules="$3"
shift 3
has_modules() {
  # shellcheck disable=SC2086
  "$1" -c 'import importlib.util as u, sys
sys.exit(any(u.find_spec(name) is None for name in sys.argv[1:]))' $modules >/dev/null 2>&1
}
for python in "${ATTN_PYTHON:-}" "$root/bench/.venv/bin/python" python3 /usr/bin/python3; do
  if [[ -n $python ]] && has_modules "$python"; then
    printf 'with %s\n' "$("$python" -c 'import sys; print(sys.executable, sys.version.split()[0])')"
    test="$1"
    shift
    exec env ATTNC="$build/bin/attnc" ATTNC_CACHE_DIR="$build/cache" PYTHONPATH="$root/python" \
      PYTHONDONTWRITEBYTECODE=1 "$python" "$root/tests/python/$test" "$@"
  fi
done
printf 'SKIPPED: no Python of this machine has %s: %s is not run\n' "$modules" "$1"
exit 77
