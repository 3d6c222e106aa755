# trainyard_part(NAME SOURCES … LINKS … [FLAGS …]): one layer as one static library, warnings
# as errors.
set(TRAINYARD_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror)

# trainyard_flags(TARGET FLAGS …): what all of our targets are compiled with, then FLAGS, with the
# headers that are precompiled for these.
function(trainyard_flags target)
  target_compile_options(${target} PRIVATE ${TRAINYARD_WARNINGS} ${TRAINYARD_OWN_FLAGS})
  # Every GPU node of the last ten years has AVX2; the trainer says so and exits 4 where it is missing.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2> ${ARGN})
  trainyard_precompiled(${target} ${ARGN})
endfunction()

function(trainyard_part name)
  cmake_parse_arguments(PART "" "" "SOURCES;LINKS;PRIVATE_LINKS;FLAGS" ${ARGN})
  add_library(${name} STATIC ${PART_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${PART_LINKS} PRIVATE ${PART_PRIVATE_LINKS})
  trainyard_flags(${name} ${PART_FLAGS})
endfunction()

# As trainyard_part, for arithmetic: compiled for x86-64-v3 (AVX2, FMA).
function(trainyard_compute_part name)
  trainyard_part(${name} ${ARGN} FLAGS ${TRAINYARD_ARITHMETIC})
endfunction()

# trainyard_test(NAME [OPTIMIZED] SOURCES … LINKS … [FLAGS …]): one GoogleTest program, run by
# ctest as one test. What it links is always optimized. Its own sources are optimized only where
# they compute much: a compiler takes half the time over the others.
function(trainyard_test name)
  cmake_parse_arguments(TEST "OPTIMIZED" "" "SOURCES;LINKS;FLAGS" ${ARGN})
  if(NOT TEST_OPTIMIZED)
    list(APPEND TEST_FLAGS $<$<CONFIG:Release>:-O0>)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_LINKS} GTest::gmock_main)
  target_link_options(${name} PRIVATE ${TRAINYARD_RUNPATH})
  trainyard_flags(${name} ${TEST_FLAGS} -DTRAINYARD_PRECOMPILED_TESTS -DGTEST_HAS_PTHREAD=1)
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# trainyard_fixtures(SOURCES …): these sources of a test find tests/fixtures as TRAINYARD_FIXTURES.
function(trainyard_fixtures)
  trainyard_define("TRAINYARD_FIXTURES=\"${PROJECT_SOURCE_DIR}/tests/fixtures\"" ${ARGN})
endfunction()

# trainyard_define(DEFINITION SOURCES …): for these sources alone, since a definition with a path of
# this clone keeps an object from being shared with other clones.
function(trainyard_define definition)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_DEFINITIONS "${definition}")
endfunction()
