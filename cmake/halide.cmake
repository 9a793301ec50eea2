# Halide 21 from the wheel that tools/setup.sh unpacks. Its own CMake package wants CMake 3.28.
set(ATTN_HALIDE_DIR "${PROJECT_SOURCE_DIR}/.deps/halide/halide" CACHE PATH "The unpacked Halide wheel")
if(NOT EXISTS "${ATTN_HALIDE_DIR}/include/Halide.h")
  message(FATAL_ERROR "Halide is not in ${ATTN_HALIDE_DIR}. Run tools/setup.sh, or set ATTN_HALIDE_DIR.")
endif()
get_filename_component(halide_at "${ATTN_HALIDE_DIR}" REALPATH)
add_library(Halide::Halide SHARED IMPORTED)
set_target_properties(Halide::Halide PROPERTIES
  IMPORTED_LOCATION "${ATTN_HALIDE_DIR}/lib64/libHalide.so"
  IMPORTED_SONAME libHalide.so
  INTERFACE_INCLUDE_DIRECTORIES "${ATTN_HALIDE_DIR}/include"
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${ATTN_HALIDE_DIR}/include"
  # Its checks have the paths of its headers in them, which the compiler makes canonical.
  INTERFACE_COMPILE_OPTIONS
    "-ffile-prefix-map=${ATTN_HALIDE_DIR}/=.deps/halide/halide/;-ffile-prefix-map=${halide_at}/=.deps/halide/halide/"
  INTERFACE_LINK_LIBRARIES "Threads::Threads;dl")
# attnc looks for it here, as it does where it is installed.
file(CREATE_LINK "${ATTN_HALIDE_DIR}/lib64/libHalide.so" ${PROJECT_BINARY_DIR}/lib/attn/libHalide.so SYMBOLIC)
