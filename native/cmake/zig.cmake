# One compiler on every machine: clang from PyPI's ziglang, linking against glibc 2.28 so that a node may be that old.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
get_filename_component(TRAINYARD_TOOLCHAIN "${CMAKE_CURRENT_LIST_DIR}/../../build/toolchain" REALPATH)
set(CMAKE_C_COMPILER "${TRAINYARD_TOOLCHAIN}/zig/cc" -target x86_64-linux-gnu.2.28)
set(CMAKE_CXX_COMPILER "${TRAINYARD_TOOLCHAIN}/zig/c++" -target x86_64-linux-gnu.2.28)
set(CMAKE_AR "${TRAINYARD_TOOLCHAIN}/zig/ar")
set(CMAKE_RANLIB "${TRAINYARD_TOOLCHAIN}/zig/ranlib")
