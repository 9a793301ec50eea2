# Run by cpack: NAME.tar.gz of the staged folder NAME, its files sorted and, where SOURCE_DATE_EPOCH is set,
# of that time.
get_filename_component(stage "${CPACK_TEMPORARY_DIRECTORY}" DIRECTORY)
get_filename_component(name "${CPACK_TEMPORARY_DIRECTORY}" NAME)
set(tarball "${CPACK_PACKAGE_DIRECTORY}/${name}.tar.gz")
set(time)
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  set(time --mtime=@$ENV{SOURCE_DATE_EPOCH})
endif()
execute_process(
  COMMAND tar --create --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u+rwX,go=rX
          ${time} --directory "${stage}" "${name}"
  COMMAND gzip --no-name
  OUTPUT_FILE "${tarball}"
  RESULTS_VARIABLE results)
if(NOT results STREQUAL "0;0")
  message(FATAL_ERROR "the tarball could not be made")
endif()
set(CPACK_EXTERNAL_BUILT_PACKAGES "${tarball}")
