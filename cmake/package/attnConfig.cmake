# find_package(attn): the targets attn::runtime and attn::attnc, and attn_add_model(). Where the
# compiler must be another one, as in a cross build, ATTNC_EXECUTABLE names it.
include(CMakeFindDependencyMacro)
find_dependency(Threads)

if(NOT TARGET attn::runtime)
  get_filename_component(_attn_prefix "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
  get_filename_component(_attn_prefix "${_attn_prefix}/../../.." ABSOLUTE)
  add_library(attn::runtime STATIC IMPORTED)
  set_target_properties(attn::runtime PROPERTIES
    IMPORTED_LOCATION "${_attn_prefix}/lib/libattn_rt.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_attn_prefix}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;m")
  if(NOT ATTNC_EXECUTABLE)
    set(ATTNC_EXECUTABLE "${_attn_prefix}/bin/attnc")
  endif()
  add_executable(attn::attnc IMPORTED)
  set_target_properties(attn::attnc PROPERTIES IMPORTED_LOCATION "${ATTNC_EXECUTABLE}")
  unset(_attn_prefix)
endif()
include("${CMAKE_CURRENT_LIST_DIR}/attn_add_model.cmake")
