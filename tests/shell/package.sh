#!/usr/bin/env bash
# Projects outside attn use it: from the tarball, unpacked in a folder with a blank, by find_package and by
# pkg-config; and as a part of their own build.
source "$(dirname "$0")/lib.sh" "$@"
export ATTNC_CACHE_DIR="$scratch/cache"
cd "$scratch"

# The tarball, and that what `cmake --install` writes is the same but for debugging symbols.
expect 0 cpack --config "$build/CPackConfig.cmake" -G External -B "$scratch/packed"
mkdir "a place"
expect 0 tar -xf packed/attn-*.tar.gz -C "a place"
expect 0 cmake --install "$build" --prefix "$scratch/installed" --strip
prefix="$(echo "$scratch/a place"/attn-*)"
expect 0 diff -r "$prefix" "$scratch/installed"
rm -rf packed installed
for path in "$root" "$build"; do
  expect 1 grep -rlF -- "$path" "$prefix"
done
# What the packages carry has its licences there, file by file.
for file in $(cd "$prefix" && ls lib/attn/*.so*); do
  grep -qF "Files: ${file%%.so*}.so*" "$prefix/share/doc/attn/copyright" || fail "no licence is named of $file"
done
for licence in $(sed -n 's/^License: //p' "$prefix/share/doc/attn/copyright" | sed 's/ and /\n/g' | sort -u); do
  grep -A 1 -x "License: $licence" "$prefix/share/doc/attn/copyright" | grep -q '^ ' ||
    fail "the text of the licence $licence is missing"
done
# The documents are there, and their links lead somewhere.
for page in README.md CHANGELOG.md dsl/LANGUAGE.md bench/RESULTS.md $(cd "$root" && ls docs/*.md); do
  [[ -f $prefix/share/doc/attn/$page ]] || fail "$page is not installed"
done
while IFS= read -r page; do links_lead_somewhere "$page"; done < <(find "$prefix/share/doc" -name '*.md')
# The compiler takes the shared libraries that not every system has from its own folder.
needed="$(readelf -d "$prefix/bin/attnc" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')"
for library in $needed; do
  [[ -f $prefix/lib/attn/$library || $library =~ ^(lib(stdc\+\+|gcc_s|m|c)|ld-linux-x86-64)\.so ]] ||
    fail "attnc needs $library, which is not in the package"
done

# use NAME ARGUMENT…: configures a project in the folder NAME, builds and tests it.
use() {
  local name="$1"
  shift
  expect 0 cmake -S "$name" -B "$name/build" -Werror=dev "$@"
  expect 0 cmake --build "$name/build" --parallel 2
  expect 0 ctest --test-dir "$name/build" --no-tests=error
}
cp -r "$root/examples/outside" "with ninja"
cp -r "$root/examples/outside" with_make
use "with ninja" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
use with_make -G "Unix Makefiles" -DCMAKE_PREFIX_PATH="$prefix"
# A change of the model is compiled, and reaches the program.
sed -i 's/loss = mean/loss = 1 + mean/' "with ninja/fit.attn"
expect 0 cmake --build "with ninja/build"
expect 1 "with ninja/build/fit"
expect_text "loss 1.0"

# In C alone, and in C++ alone.
mkdir c_only cxx_only
cp "$root"/examples/outside/{fit.attn,plane.c} c_only
cp "$root"/examples/outside/{fit.attn,fit.cpp} cxx_only
for name in c_only:C:plane.c cxx_only:CXX:fit.cpp; do
  IFS=: read -r folder language source <<<"$name"
  cat >"$folder/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project($folder LANGUAGES $language)
find_package(attn REQUIRED)
attn_add_model(model SOURCE fit.attn INSTRUCTIONS host)
add_executable(program $source)
target_link_libraries(program PRIVATE model)
enable_testing()
add_test(NAME program COMMAND program)
END
  use "$folder" -Dattn_DIR="$prefix/lib/cmake/attn"
done

# A library that links a model is installed, and used where neither its project nor its build is: as an
# archive, as a shared library, and where attn is a part of its project.
cp -r "$root/tests/shell/library" library
mv library/user user
cp "$root/examples/outside/fit.attn" library
for kind in "archive BUILD_SHARED_LIBS=OFF" "shared BUILD_SHARED_LIBS=ON" "part ATTN_SOURCE=$root"; do
  name="${kind%% *}"
  expect 0 cmake -S library -B library/build -Werror=dev "-D${kind#* }" -DCMAKE_PREFIX_PATH="$prefix" \
    -DATTNC_EXECUTABLE="$prefix/bin/attnc"
  expect 0 cmake --build library/build --parallel 2
  expect 0 cmake --install library/build --prefix "$scratch/moved"
  rm -rf library/build
  mv moved "line $name"
  expect 1 grep -rlF -- "$scratch" "line $name/lib/cmake"
  cp -r user "user_$name"
  use "user_$name" "-DCMAKE_PREFIX_PATH=$prefix;$scratch/line $name"
done
printf 'attn_install_model(other EXPORT line_targets)\n' >>library/CMakeLists.txt
expect 1 cmake -S library -B library/build -DCMAKE_PREFIX_PATH="$prefix"
expect_text "other is no target of attn_add_model"

# Without CMake.
if command -v pkg-config >/dev/null; then
  cp -r "$root/examples/outside" by_hand
  expect 0 env PKG_CONFIG_PATH="$prefix/lib/pkgconfig" make -C by_hand
  expect_text "loss 0.000000"
  expect_text "y 3 1  loss 0"
fi

# As a part of another project, with a compiler that is there already.
cp -r "$root/examples/outside" part
use part -G Ninja -DATTN_SOURCE="$root" -DATTNC_EXECUTABLE="$prefix/bin/attnc"
# With its own compiler: that the other project keeps its settings, and gets no tests of ours.
mkdir whole
cat >whole/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.22)
project(whole LANGUAGES C CXX)
include(FetchContent)
FetchContent_Declare(attn SOURCE_DIR "$root")
FetchContent_MakeAvailable(attn)
foreach(name CMAKE_CXX_STANDARD CMAKE_CXX_FLAGS_RELEASE CMAKE_BUILD_TYPE CMAKE_RUNTIME_OUTPUT_DIRECTORY
             CMAKE_CXX_COMPILER_LAUNCHER CMAKE_POSITION_INDEPENDENT_CODE)
  message("\${name}=\${\${name}}")
endforeach()
get_directory_property(options COMPILE_OPTIONS)
message("options=\${options}")
foreach(target attn_test_runtime attn_testing digits)
  if(TARGET \${target})
    message(FATAL_ERROR "\${target} is built")
  endif()
endforeach()
END
expect 0 cmake -G Ninja -S whole -B whole/build -DATTN_HALIDE_DIR="$(readlink -f "$build/lib/attn/libHalide.so" |
  xargs dirname | xargs dirname)"
for line in CMAKE_CXX_STANDARD= "CMAKE_CXX_FLAGS_RELEASE=-O3 -DNDEBUG" CMAKE_BUILD_TYPE= \
            CMAKE_RUNTIME_OUTPUT_DIRECTORY= CMAKE_CXX_COMPILER_LAUNCHER= CMAKE_POSITION_INDEPENDENT_CODE= options=; do
  grep -qxF -- "$line" <<<"$output" || fail "the other project does not keep $line"$'\n'"$output"
done
finish
