# attn_add_model(TARGET SOURCE FILE.attn [SIZES NAME=N…] [INSTRUCTIONS x86-64-v3…] [DERIVE jvp…]
#                [WRT NAME…] [SHARED])
#
# Compiles a model with attnc when it, a file that it uses or the compiler has changed. A program that
# links TARGET finds FILE.h and gets the archive and the runtime with it. SHARED also makes the shared
# library TARGET/FILE.so below the binary folder, which Python loads.
function(attn_add_model target)
  cmake_parse_arguments(PARSE_ARGV 1 model "SHARED" "SOURCE" "SIZES;INSTRUCTIONS;DERIVE;WRT")
  if(model_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "attn_add_model(${target}): unknown arguments: ${model_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT model_SOURCE)
    message(FATAL_ERROR "attn_add_model(${target}): say SOURCE FILE.attn")
  endif()
  get_filename_component(source "${model_SOURCE}" ABSOLUTE)
  get_filename_component(stem "${source}" NAME_WE)
  get_filename_component(folder "${source}" DIRECTORY)
  # A file that the model uses lies beside it; the standard library is a part of the compiler.
  file(GLOB used CONFIGURE_DEPENDS "${folder}/*.attn")
  set(out "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  set(options)
  foreach(size ${model_SIZES})
    list(APPEND options -D "${size}")
  endforeach()
  if(model_INSTRUCTIONS)
    list(JOIN model_INSTRUCTIONS "," instructions)
    list(APPEND options --target "${instructions}")
  endif()
  foreach(derivative ${model_DERIVE})
    list(APPEND options --derive "${derivative}")
  endforeach()
  foreach(name ${model_WRT})
    list(APPEND options --wrt "${name}")
  endforeach()
  set(files "${out}/${stem}.h" "${out}/${stem}.c" "${out}/${stem}.a")
  if(model_SHARED)
    list(APPEND options --shared)
    list(APPEND files "${out}/${stem}.so")
  endif()
  set(command attn::attnc)
  if(CMAKE_C_COMPILER)
    # The tables of a model are C: the compiler of the project is the one to compile them.
    set(command "${CMAKE_COMMAND}" -E env "CC=${CMAKE_C_COMPILER}" $<TARGET_FILE:attn::attnc>)
  endif()
  add_custom_command(
    OUTPUT ${files}
    COMMAND ${command} build "${source}" -o "${out}" ${options}
    DEPENDS attn::attnc "${source}" ${used}
    COMMENT "Compiling ${stem}.attn"
    VERBATIM)
  add_custom_target(${target}_files DEPENDS ${files})
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_files)
  target_include_directories(${target} INTERFACE "${out}")
  target_link_libraries(${target} INTERFACE "${out}/${stem}.a" attn::runtime)
endfunction()
