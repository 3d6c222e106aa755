# trainyard_precompiled(TARGET FLAGS …): this target's objects read precompiled.h compiled.
# FLAGS are what the compiled form depends on beside the build type's flags: the processor's
# instructions, another level of optimization, definitions.
#
# The compiled headers stand in the toolchain's folder, named by all they are made from. So a second
# clone finds them, and its objects are the same to ccache, which hashes paths as well. CMake's own
# target_precompile_headers would put them below each clone.
set(PRECOMPILED_HEADER "${CMAKE_CURRENT_LIST_DIR}/precompiled.h")

function(trainyard_precompiled target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR NOT TRAINYARD_SANITIZE STREQUAL "")
    return() # other compilers, and flags that change from build to build
  endif()
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS_RELEASE}")
  separate_arguments(target_words UNIX_COMMAND "${CMAKE_CXX_COMPILER_ARG1}")
  list(APPEND flags ${target_words} ${TRAINYARD_JSON} -std=c++20 ${TRAINYARD_OWN_FLAGS} -O2 ${ARGN}
       -isystem "${SYS}/include" -isystem "${SYS}/src/googletest/googletest/include"
       -isystem "${SYS}/src/googletest/googlemock/include")
  file(READ "${PRECOMPILED_HEADER}" text)
  string(SHA256 name "${CMAKE_CXX_COMPILER} ${flags} ${text}")
  string(SUBSTRING "${name}" 0 16 name)
  set(folder "${TRAINYARD_TOOLCHAIN}/precompiled/${name}")
  set(compiled "${folder}/precompiled.h.pch")
  if(NOT TARGET precompiled_${name})
    file(MAKE_DIRECTORY "${folder}")
    configure_file("${PRECOMPILED_HEADER}" "${folder}/precompiled.h" COPYONLY)
    # A build beside this one may make the same: a whole file replaces a whole file.
    add_custom_command(
      OUTPUT "${compiled}"
      COMMAND sh -c "test -f '${compiled}' || { \"$@\" -o '${compiled}.'$$ && mv '${compiled}.'$$ '${compiled}'; }" sh
              ${CMAKE_CXX_COMPILER} ${flags} -Xclang -fno-pch-timestamp -fpch-instantiate-templates
              -x c++-header "${folder}/precompiled.h"
      VERBATIM COMMENT "Precompiling headers ${name}")
    add_custom_target(precompiled_${name} DEPENDS "${compiled}")
  endif()
  add_dependencies(${target} precompiled_${name})
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -include-pch -Xclang ${compiled}>")
endfunction()
