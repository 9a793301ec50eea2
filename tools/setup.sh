#!/usr/bin/env bash
# Installs what the build needs: packages of the distribution (Debian 12, Ubuntu 22.04, Fedora, and later
# ones; no test runs on Fedora), and Halide from its wheel into .deps/halide. Silent and quick when all is
# there. Where it may not install, it says what is missing and which command brings it, and exits with 1.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
halide_version=21.0.0
halide_sha256=3686c2b4c9aed1e26e1e55631608b2c4a4c3fe2d4386505ba1921859adb683ab
halide_dir="$root/.deps/halide"

# The package in Debian and Ubuntu, that in Fedora, what shows that the thing is there, from wherever it
# came: a command [in brackets], a module (of Python) or a header, and the least version of it.
needs=(
  "g++ gcc-c++ [g++] 11"
  "cmake cmake [cmake] 3.22"
  "ninja-build ninja-build [ninja] 1.10"
  "libboost-dev boost-devel boost/spirit/home/x3.hpp 1.74"
  "libfmt-dev fmt-devel fmt/format.h 8"
  "libgtest-dev gtest-devel gtest/gtest.h 0"
  "libcli11-dev cli11-devel CLI/CLI.hpp 0"
  "nlohmann-json3-dev json-devel nlohmann/json.hpp 0"
  "libmimalloc-dev mimalloc-devel mimalloc.h 0"
  "python3-numpy python3-numpy (numpy) 0"
)

# version_of PROBE: of a command what it says first that looks like one; of Boost and fmt what their
# headers define, as in BOOST_LIB_VERSION "1_74" and FMT_VERSION 80101; else 0.
version_of() {
  local folder
  case "$1" in
    \[*\]) "${1:1:-1}" --version 2>/dev/null | grep -oEm1 '[0-9]+(\.[0-9]+)+' | head -n 1; return ;;
    \(*\))
      [[ -d /usr/lib/python3/dist-packages/${1:1:-1} ]] ||
        python3 -c "import importlib.util as u; exit(u.find_spec('${1:1:-1}') is None)" 2>/dev/null || return
      echo 0; return ;;
  esac
  for folder in /usr/include /usr/local/include; do
    [[ -f $folder/$1 ]] || continue
    case "$1" in
      boost/*) sed -n 's/^#define BOOST_LIB_VERSION "\([0-9]*\)_\([0-9]*\).*/\1.\2/p' "$folder/boost/version.hpp" ;;
      fmt/*) sed -n 's/^#define FMT_VERSION \([0-9]*\)[0-9]\{4\}$/\1/p' "$folder"/fmt/{base,core}.h 2>/dev/null ;;
      *) echo 0 ;;
    esac
    return
  done
}
at_least() { [[ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" == "$1" ]]; }

# What is there but too old is missing too: the distribution may have a newer one, or not.
manager=""
if command -v apt-get >/dev/null; then manager=apt-get; elif command -v dnf >/dev/null; then manager=dnf; fi
missing=() too_old=()
for need in "${needs[@]}"; do
  read -r debian fedora probe least <<<"$need"
  package="$debian"
  if [[ $manager == dnf ]]; then package="$fedora"; fi
  found="$(version_of "$probe" || true)"
  if [[ -z $found ]]; then
    missing+=("$package")
  elif ! at_least "$least" "$found"; then
    missing+=("$package") too_old+=("$package $found, but $least is needed")
  fi
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
  case "$manager" in
    apt-get)
      steps=("apt-get update"
             "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${missing[*]}")
      by_hand="apt-get update && apt-get install -y ${missing[*]}" ;;
    dnf) steps=("dnf install -y ${missing[*]}"); by_hand="${steps[0]}" ;;
    *)
      say "tools/setup.sh: missing: ${missing[*]}"
      say "These are names of Debian packages; install the like of them, then run this again."
      exit 1 ;;
  esac
  if [[ $EUID -eq 0 ]]; then
    as_root=()
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
  else
    say "tools/setup.sh: missing: ${missing[*]}"
    say "Run this as root, then tools/setup.sh again:"
    say "  $by_hand"
    exit 1
  fi
  say "tools/setup.sh: installing ${missing[*]}"
  log="$(mktemp)"
  trap 'rm -f "$log"' EXIT
  for step in "${steps[@]}"; do
    read -ra words <<<"$step"
    if ! "${as_root[@]}" "${words[@]}" >"$log" 2>&1 </dev/null; then
      tail -n 20 "$log" >&2
      say "tools/setup.sh: the packages could not be installed: ${missing[*]}"
      say "Run as root: $by_hand"
      exit 1
    fi
  done
  for complaint in "${too_old[@]}"; do
    say "tools/setup.sh: there was $complaint; if the distribution has no newer one, install it by hand."
  done
fi

if ! have_halide; then
  say "tools/setup.sh: fetching Halide $halide_version into .deps/halide (about 50 MB)"
  mkdir -p "$root/.deps"
  # Unpacked beside its place and then renamed, so that an interrupted run leaves nothing half done.
  # The wheel's own Python version is named because only its headers and library are used.
  partial="$(mktemp -d "$root/.deps/halide.XXXXXX")"
  trap 'rm -rf "$partial" "${log:-}"' EXIT
  # The hash is that of the wheel for Python 3.11 on x86-64 Linux: nothing else is accepted.
  fetch=(env PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-input
         --python-version 3.11 --platform manylinux_2_28_x86_64 --only-binary=:all: --no-deps
         --require-hashes --requirement "$partial/requirements.txt")
  printf 'halide==%s --hash=sha256:%s\n' "$halide_version" "$halide_sha256" >"$partial/requirements.txt"
  # pip ignores "externally managed" marks where --target is given; where it does not, it has an
  # option that says so.
  if python3 -m pip install --help 2>/dev/null | grep -q -- --break-system-packages; then
    fetch+=(--break-system-packages)
  fi
  if ! "${fetch[@]}" --target "$partial" </dev/null; then
    say "tools/setup.sh: Halide could not be fetched. On a machine that reaches a package index, run:"
    say "  pip install --target .deps/halide --python-version 3.11 --only-binary=:all:" \
        "--no-deps halide==$halide_version"
    exit 1
  fi
  rm "$partial/requirements.txt"
  chmod 755 "$partial"
  rm -rf "$halide_dir"
  mv "$partial" "$halide_dir"
  if ! have_halide; then
    say "tools/setup.sh: the wheel of Halide $halide_version has not the layout that is expected:" \
        "no .deps/halide/halide/include/Halide.h or lib64/libHalide.so"
    exit 1
  fi
fi
