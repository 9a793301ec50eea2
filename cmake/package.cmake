# What `cpack` makes: a tarball to unpack anywhere, and a package for Debian and Ubuntu. With
# SOURCE_DATE_EPOCH in the environment they have the same bytes wherever they are built, which
# tools/package.sh sees to.
set(CPACK_PACKAGE_NAME attn)
set(CPACK_PACKAGE_VENDOR "attn developers")
set(CPACK_PACKAGE_CONTACT "attn developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler for attention models, to C headers and static libraries")
set(CPACK_PACKAGE_DESCRIPTION "attnc compiles models in index notation, and their gradients, to a C header and a
static library, which need a small runtime over libc, libm and threads.
Licence: not yet chosen by the owner; all rights are reserved until then.")
set(CPACK_GENERATOR External DEB)
set(CPACK_STRIP_FILES ON)

# The tarball. CPack's own has its files in the order of the file system.
set(CPACK_PACKAGE_FILE_NAME attn-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_EXTERNAL_ENABLE_STAGING ON)
set(CPACK_EXTERNAL_PACKAGE_SCRIPT ${PROJECT_SOURCE_DIR}/cmake/package/tarball.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# What the compiler and the libraries in lib/attn need of the system, by their own records.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib/attn)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gcc | c-compiler")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, pkgconf | pkg-config")
include(CPack)
