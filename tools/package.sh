#!/usr/bin/env bash
# Writes the packages into build-package/: a tarball to unpack anywhere, and a .deb. The same sources
# give the same bytes, in whatever folder they lie.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="$root/build-package"

"$root/tools/setup.sh"
cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DATTN_BUILD_TESTS=OFF \
  -DATTN_BUILD_EXAMPLES=OFF --log-level=WARNING
cmake --build "$build" --parallel "$(nproc)"
# The time of all files: that of the last commit.
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH
cd "$build"
cpack -B "$build"
rm -rf "$build/_CPack_Packages"
sha256sum attn[-_]*.tar.gz attn[-_]*.deb
