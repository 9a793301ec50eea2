#!/usr/bin/env bash
# What the linker sees: shared libraries export no kernels, and a header, an archive and a runtime that do
# not belong together do not link.
source "$(dirname "$0")/lib.sh" "$@"
cd "$scratch"

# model FOLDER FACTOR: a model `tiny`, compiled in the folder.
model() {
  mkdir "$1"
  printf 'size T\nmodel tiny(x: [T, 3]) -> y {\n  y[i,d] = %s * x[i,d]\n}\n' "$2" >"$1/tiny.attn"
  expect 0 "$build/bin/attnc" build "$1/tiny.attn" -o "$1" --target x86-64-v2
}
model two 2
model three 3
cat >main.c <<'END'
#include "tiny.h"
int other(void);
int main(void) { return tiny_model() == 0 || other(); }
END
cat >other.c <<'END'
#include "tiny.h"
int other(void) { return tiny_model()->n_inputs != 1; }
END
# compile SOURCE FOLDER [HEADERS]: SOURCE.FOLDER.o, with the model's header in the folder.
compile() {
  expect 0 cc -Wall -Wextra -Wpedantic -Wconversion -Werror -O2 -fdata-sections -c "$1.c" -o "$1.$2.o" -I "$2" -I "${3:-$build/include}"
}
runtime=("$build/lib/libattn_rt.a" -lm -lpthread)
[[ -z $(nm "$build/lib/libattn_rt.a" | grep __asan) ]] || runtime+=(-fsanitize=address,undefined)
compile main two
compile other two
compile other three
expect 0 cc main.two.o other.two.o two/tiny.a "${runtime[@]}" -o tiny
expect 0 ./tiny
expect 1 cc -Wl,--gc-sections main.two.o other.two.o three/tiny.a "${runtime[@]}" -o tiny
expect_text "tiny_archive_of_"
expect 1 cc main.two.o other.three.o two/tiny.a three/tiny.a "${runtime[@]}" -o tiny
expect_text 'multiple definition of `tiny_model'

# The classes say which C++ they need.
printf '#include <attn/attn.hpp>\n' >old.cpp
expect 1 c++ -std=c++14 -fsyntax-only -I "$build/include" old.cpp
expect_text "the C++ headers of attn need C++17"

# Headers of the next version of the interface.
version="$(awk '/define ATTN_ABI_VERSION/ { print $3 }' "$root/runtime/include/attn/abi.h")"
next=$((version + 1))
mkdir headers
cp -r "$root/runtime/include/attn" headers/
sed -i "s/ATTN_ABI_VERSION $version/ATTN_ABI_VERSION $next/" headers/attn/abi.h
expect 1 cc -c main.c -o main.o -I two -I headers
expect_text "tiny.h is for version $version of attn/abi.h"
sed -i "s/ATTN_ABI_VERSION != $version/ATTN_ABI_VERSION != $next/" two/tiny.h
compile main two headers
expect 1 cc main.two.o other.two.o two/tiny.a "${runtime[@]}" -o tiny
expect_text "attn_runtime_of_abi_$next"

expect 0 cc -shared -o tiny.so -Wl,--whole-archive two/tiny.a "${runtime[0]}" -Wl,--no-whole-archive \
  "${runtime[@]:1}"
exported="$(nm -D --defined-only tiny.so | awk '{ print $3 }' |
            grep -vxE 'attn_[a-jl-z][a-z_0-9]*|tiny_(model|sizes|forward|archive_of_[0-9a-f]{16})' || true)"
[[ -z $exported ]] || fail "a shared library exports $exported"
nm -D --defined-only tiny.so | grep -q ' attn_context_create$' || fail "the runtime is not exported"
finish
