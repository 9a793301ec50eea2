#!/usr/bin/env bash
# Installs what the build needs on Debian 12: packages of the distribution, and Halide from its wheel
# into .deps/halide. Silent and quick when all is there. Where it may not install, it says what is
# missing and which command brings it, and exits with 1.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
halide_version=21.0.0
halide_dir="$root/.deps/halide"

# Each package with a file, a command [in brackets] or a module (of Python) that serves as well, for
# machines that have the thing from elsewhere.
needs=(
  "g++ [g++]"
  "cmake [cmake]"
  "ninja-build [ninja]"
  "libboost1.81-dev boost/spirit/home/x3.hpp"
  "libfmt-dev fmt/format.h"
  "libgtest-dev gtest/gtest.h"
  "libcli11-dev CLI/CLI.hpp"
  "nlohmann-json3-dev nlohmann/json.hpp"
  "libbenchmark-dev benchmark/benchmark.h"
  "libmimalloc-dev mimalloc.h"
  "python3-numpy (numpy)"
)

is_there() {  # is_there PROBE
  case "$1" in
    \[*\]) command -v "${1:1:-1}" >/dev/null ;;
    \(*\)) [[ -d "/usr/lib/python3/dist-packages/${1:1:-1}" ]] ||
      python3 -c "import importlib.util as u; exit(u.find_spec('${1:1:-1}') is None)" 2>/dev/null ;;
    boost/*)  # Older releases of Boost compile the grammar too slowly to be of use.
      local directory
      for directory in /usr/include /usr/local/include; do
        [[ -f "$directory/$1" ]] &&
          awk '/^#define BOOST_VERSION / { ok = $3 >= 108100 } END { exit !ok }' \
            "$directory/boost/version.hpp" && return 0
      done
      return 1 ;;
    *) [[ -f "/usr/include/$1" || -f "/usr/local/include/$1" ]] ;;
  esac
}

missing=()
for need in "${needs[@]}"; do
  is_there "${need#* }" || missing+=("${need%% *}")
done

have_halide() {
  [[ -f "$halide_dir/halide/include/Halide.h" && -f "$halide_dir/halide/lib64/libHalide.so" &&
     -d "$halide_dir/halide-$halide_version.dist-info" ]]
}
pip_works() { command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1; }
if ! have_halide && ! pip_works; then
  missing+=(python3 python3-pip)
fi

say() { printf '%s\n' "$*" >&2; }

if ((${#missing[@]})); then
  install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends
           "${missing[@]}")
  if ! command -v apt-get >/dev/null; then
    say "tools/setup.sh: missing: ${missing[*]}"
    say "These are names of Debian packages; install the like of them, then run this again."
    exit 1
  elif [[ $EUID -eq 0 ]]; then
    as_root=()
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
  else
    say "tools/setup.sh: missing: ${missing[*]}"
    say "Run this as root, then tools/setup.sh again:"
    say "  apt-get update && apt-get install -y ${missing[*]}"
    exit 1
  fi
  say "tools/setup.sh: installing ${missing[*]}"
  log="$(mktemp)"
  trap 'rm -f "$log"' EXIT
  if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" "${install[@]}"; } >"$log" 2>&1 </dev/null
  then
    tail -n 20 "$log" >&2
    say "tools/setup.sh: the packages could not be installed: ${missing[*]}"
    say "Run as root: apt-get update && apt-get install -y ${missing[*]}"
    exit 1
  fi
fi

if ! have_halide; then
  say "tools/setup.sh: fetching Halide $halide_version into .deps/halide (about 50 MB)"
  mkdir -p "$root/.deps"
  # Unpacked beside its place and then renamed, so that an interrupted run leaves nothing half done.
  # The wheel's own Python version is named because only its headers and library are used.
  partial="$(mktemp -d "$root/.deps/halide.XXXXXX")"
  trap 'rm -rf "$partial" "${log:-}"' EXIT
  fetch=(env PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-input
         --python-version 3.11 --only-binary=:all: --no-deps)
  # pip ignores "externally managed" marks where --target is given; where it does not, it has an
  # option that says so.
  if python3 -m pip install --help 2>/dev/null | grep -q -- --break-system-packages; then
    fetch+=(--break-system-packages)
  fi
  if ! "${fetch[@]}" --target "$partial" "halide==$halide_version" </dev/null; then
    say "tools/setup.sh: Halide could not be fetched. On a machine that reaches a package index, run:"
    say "  pip install --target .deps/halide --python-version 3.11 --only-binary=:all:" \
        "--no-deps halide==$halide_version"
    exit 1
  fi
  chmod 755 "$partial"
  rm -rf "$halide_dir"
  mv "$partial" "$halide_dir"
  if ! have_halide; then
    say "tools/setup.sh: the wheel of Halide $halide_version has not the layout that is expected:" \
        "no .deps/halide/halide/include/Halide.h or lib64/libHalide.so"
    exit 1
  fi
fi
