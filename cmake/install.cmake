# What `cmake --install` writes, and the packages that `cpack` makes of it. The layout is fixed, and
# everything in it is found from the folder of attnc or of a CMake file: a prefix can be moved.
#   bin/attnc  include/attn/  lib/libattn_rt.a  lib/attn/  lib/cmake/attn/  lib/pkgconfig/attn.pc
#   share/attn/  share/doc/attn/
include(CMakePackageConfigHelpers)

install(TARGETS attn_rt ARCHIVE DESTINATION lib)
install(DIRECTORY runtime/include/attn DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
if(TARGET attnc)
  install(TARGETS attnc RUNTIME DESTINATION bin)
  # The shared libraries that not every system has, each as the one file that attnc loads.
  foreach(library Halide::Halide fmt::fmt mimalloc)
    if(TARGET ${library})
      get_target_property(type ${library} TYPE)
      if(type STREQUAL "SHARED_LIBRARY")
        install(PROGRAMS $<TARGET_FILE:${library}> DESTINATION lib/attn
                RENAME $<TARGET_SONAME_FILE_NAME:${library}>)
      endif()
    endif()
  endforeach()
  file(GLOB licence "${ATTN_HALIDE_DIR}/../halide-*.dist-info/licenses/LICENSE.txt")
  install(FILES ${licence} DESTINATION share/doc/attn RENAME LICENSE-Halide.txt)
endif()

configure_file(cmake/package/attn.pc.in ${PROJECT_BINARY_DIR}/package/attn.pc @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/attnConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/attn.pc DESTINATION lib/pkgconfig)
install(FILES ${PROJECT_BINARY_DIR}/package/attnConfigVersion.cmake cmake/package/attnConfig.cmake
              cmake/attn_add_model.cmake
        DESTINATION lib/cmake/attn)
install(DIRECTORY dsl/std DESTINATION share/attn)
install(DIRECTORY examples/outside/ DESTINATION share/attn/example)
install(FILES cmake/package/copyright DESTINATION share/doc/attn)
install(CODE "set(ATTN_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\")")
install(SCRIPT cmake/package/documents.cmake)
