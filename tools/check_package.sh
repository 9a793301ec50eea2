#!/usr/bin/env bash
# Tries the packages in a clean system: tools/check_package.sh SYSTEM TARBALL [DEB]
# SYSTEM is the folder of one that has g++, cmake, make and pkg-config and nothing else, as
#   debootstrap --variant=minbase --include=g++,cmake,make,pkg-config bookworm SYSTEM
# makes it; run as root. It is changed: /attn-check is written, and the .deb stays installed.
set -euo pipefail

if (($# < 2 || $# > 3)) || [[ ! -d $1 ]]; then
  sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
folder="$1/attn-check"
rm -rf "$folder"
mkdir "$folder" "$folder/a place"
tar -xf "$2" -C "$folder/a place"
[[ $# -lt 3 ]] || cp "$3" "$folder/attn.deb"
for name in cmake make installed; do cp -r "$root/examples/outside" "$folder/$name"; done

# A program finds its shared libraries by /proc.
mount -t proc proc "$1/proc"
system="$1"
trap 'umount "$system/proc"' EXIT
chroot "$1" /bin/bash -euxo pipefail -c '
  export HOME=/attn-check PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
  cd /attn-check
  (. /etc/os-release; echo "$PRETTY_NAME")
  cmake --version | head -n 1; g++ --version | head -n 1
  prefix="$(echo "$PWD/a place"/attn-*)"
  ldd "$prefix/bin/attnc"
  cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$prefix"
  cmake --build cmake/build
  ctest --test-dir cmake/build --no-tests=error
  if [[ $(pkg-config --version) < 1. ]]; then  # The original pkg-config knows no blanks.
    ln -s "$prefix" prefix; prefix=$PWD/prefix
  fi
  PKG_CONFIG_PATH="$prefix/lib/pkgconfig" make -C make
  if [[ -f attn.deb ]]; then
    dpkg -i attn.deb
    [[ "$(dpkg-query --show --showformat='"'\${Maintainer}'"' attn)" == "attn developers" ]]
    grep -A 9 -F "Files: lib/attn/libHalide.so" /usr/share/doc/attn/copyright | grep -F Apache-2.0-with-LLVM
    cmake -S installed -B installed/build
    cmake --build installed/build
    ctest --test-dir installed/build --no-tests=error
    make -C installed
  fi'
