include(CMakeFindDependencyMacro)
find_dependency(attn 0.1)
include("${CMAKE_CURRENT_LIST_DIR}/lineTargets.cmake")
