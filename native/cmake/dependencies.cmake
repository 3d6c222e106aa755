# What the native parts stand on, all out of the toolchain folder in the user's cache
# (scripts/native/toolchain.mjs).
get_filename_component(TRAINYARD_TOOLCHAIN "${CMAKE_CURRENT_LIST_DIR}/../../build/toolchain" REALPATH)
set(SYS "${TRAINYARD_TOOLCHAIN}/sys/usr")
set(VENV "${TRAINYARD_TOOLCHAIN}/venv")

add_library(dep_headers INTERFACE) # nlohmann/json, CLI11, protozero
target_include_directories(dep_headers SYSTEM INTERFACE "${SYS}/include")
# Nothing here orders JSON values. Where one is compared, their <=> takes a compiler 3 s an object.
set(TRAINYARD_JSON -DJSON_HAS_THREE_WAY_COMPARISON=0)
target_compile_options(dep_headers INTERFACE ${TRAINYARD_JSON})

add_library(dep_jpeg INTERFACE) # libturbojpeg: the TurboJPEG and the libjpeg interface, static
target_include_directories(dep_jpeg SYSTEM INTERFACE "${SYS}/include" "${SYS}/include/x86_64-linux-gnu")
target_link_libraries(dep_jpeg INTERFACE "${SYS}/lib/x86_64-linux-gnu/libturbojpeg.a")

add_library(dep_png INTERFACE) # libpng on zlib, static
target_include_directories(dep_png SYSTEM INTERFACE "${SYS}/include" "${SYS}/include/x86_64-linux-gnu")
target_link_libraries(dep_png INTERFACE "${SYS}/lib/x86_64-linux-gnu/libpng16.a" "${SYS}/lib/x86_64-linux-gnu/libz.a")

# libgomp is oneDNN's thread pool and, through GOMP_parallel, ours. The system's own copy may want a newer glibc than
# the one linked against here, which only matters to it.
add_library(dep_gomp INTERFACE)
target_link_libraries(dep_gomp INTERFACE "${TRAINYARD_TOOLCHAIN}/libgomp.so.1")
target_link_options(dep_gomp INTERFACE -Wl,--allow-shlib-undefined)

add_library(dep_onednn INTERFACE)
target_include_directories(dep_onednn SYSTEM INTERFACE "${VENV}/include")
target_link_libraries(dep_onednn INTERFACE "${VENV}/lib/libdnnl.so.3" dep_gomp)

add_library(dep_mpi INTERFACE)
target_include_directories(dep_mpi SYSTEM INTERFACE "${VENV}/include")
target_link_libraries(dep_mpi INTERFACE "${VENV}/lib/libmpi.so.12")
target_link_options(dep_mpi INTERFACE -Wl,--allow-shlib-undefined)

add_library(dep_nvml INTERFACE) # the header only: the library is loaded at run time where there is one
target_include_directories(dep_nvml SYSTEM INTERFACE "${VENV}/site-packages/nvidia/cu13/include")

# build/native/<preset>/node looks like an installed node folder: bin/trainer finds ../lib, which is the toolchain's.
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/node")
file(CREATE_LINK "${VENV}/lib" "${CMAKE_BINARY_DIR}/node/lib" SYMBOLIC)
set(CMAKE_SKIP_BUILD_RPATH ON)
set(TRAINYARD_RUNPATH "-Wl,-rpath,$ORIGIN/../lib")

if(TRAINYARD_TESTS)
  set(BUILD_GMOCK ON CACHE BOOL "" FORCE)
  set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
  add_subdirectory("${SYS}/src/googletest" "${CMAKE_BINARY_DIR}/googletest" SYSTEM EXCLUDE_FROM_ALL)
endif()
