# How libtrainer_cuda.so is made, for one CUDA.
get_filename_component(TRAINYARD_CUDA_KIT "${PROJECT_SOURCE_DIR}/../build/cuda" REALPATH)
get_filename_component(TRAINYARD_CUDA12_KIT "${PROJECT_SOURCE_DIR}/../build/cuda12" REALPATH)

# What of NVIDIA a target is compiled and linked with. The runtime is small and linked in; cuBLAS and cuDNN are found by
# the trainer before it loads the library, NCCL when there is more than one rank, nvJPEG when it is asked for.
function(trainyard_link_cuda target kit toolkit)
  target_include_directories(${target} SYSTEM PRIVATE "${kit}/${toolkit}/include" "${kit}/cudnn/include" "${kit}/nccl/include")
  target_link_libraries(${target} PRIVATE "${kit}/${toolkit}/lib/libcublas.so" "${kit}/cudnn/lib/libcudnn.so"
    "${kit}/${toolkit}/lib/libcudart_static.a" ${CMAKE_DL_LIBS} pthread rt)
  target_link_options(${target} PRIVATE -Wl,--allow-shlib-undefined)
endfunction()

# FOLDER: where it and what the assembler said of its kernels go. KIT: the toolkit; TOOLKIT: its folder in there.
function(trainyard_cuda_library target)
  cmake_parse_arguments(PARSE_ARGV 1 LIBRARY "" "FOLDER;KIT;NVCC;TOOLKIT" "ARCHITECTURES")
  file(MAKE_DIRECTORY "${LIBRARY_FOLDER}")
  set(gencode "")
  set(targets "")
  foreach(architecture ${LIBRARY_ARCHITECTURES})
    # The front end is CUDA 13's, which knows nothing older than Turing; the assembler makes Volta's code of that.
    string(REGEX REPLACE "^70$" 75 front "${architecture}")
    list(APPEND gencode -gencode arch=compute_${front},code=sm_${front})
    list(APPEND targets sm_${architecture})
  endforeach()
  list(JOIN targets " " targets)

  # Our zig is another clang than nvcc takes, so only the kernels and their launchers, which use no standard library, go
  # through nvcc and g++. -fmad=false: a product and a sum are fused only where fma is written, as on the host.
  set(objects "")
  foreach(source elementwise repack resize softmax space_to_depth sums update update_wide
                 norm/batch_norm norm/norm_blocks norm/norm_merge norm/norm_pair norm/norm_pool
                 pointwise/pointwise pointwise/pointwise_gradient pointwise/pointwise_weights pooling/pooling pooling/pooling_wide)
    get_filename_component(kernel "${source}" NAME)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/${LIBRARY_TOOLKIT}/${kernel}.o")
    set(said "${LIBRARY_FOLDER}/${kernel}.ptxas")
    set(code ${gencode})
    if(source MATCHES "^pointwise/")  # instructions of Hopper's own, which later GPUs do not have
      set(code -gencode arch=compute_90a,code=sm_90a)
    endif()
    add_custom_command(
      OUTPUT "${object}" "${said}"
      COMMAND sh -c "\"$@\" > '${said}' 2>&1 || { cat '${said}' >&2; exit 1; }" sh
              "${LIBRARY_NVCC}" -ccbin ${TRAINYARD_CUDA_HOST_COMPILER} -std=c++20 -O3 -fmad=false --Werror all-warnings
              -Xptxas -v ${code} -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra "-I${PROJECT_SOURCE_DIR}" -MD -MF
              "${object}.d" -c "${CMAKE_CURRENT_SOURCE_DIR}/kernels/${source}.cu" -o "${object}"
      DEPENDS "kernels/${source}.cu" DEPFILE "${object}.d" VERBATIM COMMENT "Building CUDA object ${target} ${kernel}")
    list(APPEND objects "${object}")
  endforeach()
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/${LIBRARY_TOOLKIT}")

  add_library(${target} SHARED EXCLUDE_FROM_ALL
    library/check.cpp library/device_backend.cpp library/device_memory.cpp library/device_time.cpp library/fused_bench.cpp library/library.cpp
    library/cudnn/convolution.cpp library/cudnn/engines.cpp
    library/loaded/nccl_api.cpp library/loaded/nccl_collectives.cpp library/loaded/nvjpeg_api.cpp library/loaded/nvjpeg_decoder.cpp
    library/loaded/runtime_library.cpp
    library/streams/recording.cpp library/streams/side_stream.cpp library/streams/stream_sends.cpp library/streams/uploads.cpp
    ${objects})
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME trainer_cuda LIBRARY_OUTPUT_DIRECTORY "${LIBRARY_FOLDER}"
    CXX_VISIBILITY_PRESET hidden)
  set_target_properties(tensor PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(${target} PRIVATE TRAINYARD_CUDA_ABI="${TRAINYARD_CUDA_ABI}" TRAINYARD_CUDA_TARGETS="${targets}"
    TRAINYARD_CUDA_KERNELS="${TRAINYARD_CUDA_KERNELS} ${LIBRARY_TOOLKIT}")
  target_link_libraries(${target} PRIVATE cuda_ops)
  trainyard_link_cuda(${target} "${LIBRARY_KIT}" "${LIBRARY_TOOLKIT}")
  target_link_options(${target} PRIVATE "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/library/exports.map" -Wl,-s)
  trainyard_flags(${target})
endfunction()
