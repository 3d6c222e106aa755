# trainyard_part(NAME SOURCES … LINKS …): one layer as one static library, warnings as errors.
set(TRAINYARD_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror)

function(trainyard_flags target)
  target_compile_options(${target} PRIVATE ${TRAINYARD_WARNINGS} ${TRAINYARD_OWN_FLAGS})
  # Every GPU node of the last ten years has AVX2; the trainer says so and exits 4 where it is missing.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
endfunction()

function(trainyard_part name)
  cmake_parse_arguments(PART "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${PART_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${PART_LINKS} PRIVATE ${PART_PRIVATE_LINKS})
  trainyard_flags(${name})
endfunction()

# As trainyard_part, for arithmetic: compiled for x86-64-v3 (AVX2, FMA).
function(trainyard_compute_part name)
  trainyard_part(${name} ${ARGN})
  target_compile_options(${name} PRIVATE ${TRAINYARD_ARITHMETIC})
endfunction()

# trainyard_test(NAME SOURCES … LINKS …): one GoogleTest program, run by ctest as one test.
function(trainyard_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_LINKS} GTest::gmock_main)
  target_link_options(${name} PRIVATE ${TRAINYARD_RUNPATH})
  trainyard_flags(${name})
  target_compile_definitions(${name} PRIVATE TRAINYARD_FIXTURES="${PROJECT_SOURCE_DIR}/tests/fixtures")
  add_test(NAME ${name} COMMAND ${name})
endfunction()
