# TRAINYARD_SANITIZE: a build whose programs report their own faults as they run. Only Debian's
# clang brings the runtimes that this needs (scripts/native/sanitizers.mjs); the compiler of every
# other build is zig's (zig.cmake).
if(TRAINYARD_SANITIZE STREQUAL "")
  set(TRAINYARD_OWN_FLAGS -fno-sanitize=undefined) # zig adds it to debug builds, where its runtime is missing
  set(TRAINYARD_ARITHMETIC -mcpu=x86_64_v3)
  return()
endif()

set(TRAINYARD_OWN_FLAGS -w) # what warns is the compiler of every other build
set(TRAINYARD_ARITHMETIC -march=x86-64-v3) # as clang itself writes it
if(TRAINYARD_SANITIZE STREQUAL "address")
  set(CHECKED address,undefined)
elseif(TRAINYARD_SANITIZE STREQUAL "thread")
  set(CHECKED thread)
else()
  message(FATAL_ERROR "TRAINYARD_SANITIZE is '${TRAINYARD_SANITIZE}': use address or thread")
endif()
add_compile_options(-O1 -gline-tables-only -fno-omit-frame-pointer -fsanitize=${CHECKED} -fno-sanitize-recover=all)
# Conversions to bfloat16 are functions of compiler-rt; libgcc has them from GCC 13 on.
add_link_options(-fsanitize=${CHECKED} --rtlib=compiler-rt --unwindlib=libgcc)

# GNU ld reads a static library once and in order. The CUDA ops and the host in the device's place
# (tests/ops) need one another.
set(CMAKE_CXX_LINK_EXECUTABLE
    "<CMAKE_CXX_COMPILER> <FLAGS> <CMAKE_CXX_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> -Wl,--start-group <LINK_LIBRARIES> -Wl,--end-group")
