// The CUDA back end lives in a library of its own, so that the trainer starts on machines that know
// nothing of CUDA.
#pragma once
#include <memory>
#include <string>

#include "trainer/ops/cuda/library/abi.h"

namespace trainyard {

/// Loads libtrainer_cuda.so from TRAINYARD_CUDA_LIBRARY (a path), from the trainer's folder or from
/// ../cuda beside it, and before it NVIDIA's libraries: from the folders of
/// TRAINYARD_NVIDIA_LIBRARIES (separated by colons), from the wheels in the node's runtime, or from
/// wherever the system finds them. Throws Error(Exit::device) that names what was looked for and
/// where.
std::unique_ptr<CudaLibrary> load_cuda_library();

/// Why cuDNN cannot compile kernels at run time, as a sentence: NVRTC or its builtins are nowhere. ""
/// where it can. After load_cuda_library(), which loads both where it finds them. Nothing fails
/// without them, since cuDNN then takes other engines.
std::string nvrtc_trouble();

/// Loads NCCL for sums between GPUs, from where NVIDIA's libraries are looked for, and asks
/// `library` whether it can use it. Returns its version. Throws Error(Exit::device) that names what
/// was looked for and where.
std::string load_nccl(CudaLibrary& library);

/// Loads nvJPEG for decoding images, likewise. Returns its version. Throws Error(Exit::device).
std::string load_nvjpeg(CudaLibrary& library);

/// Device `index`. Throws Error(Exit::device) unless it is there and the library has code for it.
/// Takes no memory of it.
CudaDevice require_cuda_device(CudaLibrary& library, int index);

/// Which device is a rank's, the `local_rank`-th of its host: that one, or the only one it sees
/// where the agent chose.
int own_cuda_device(int local_rank);

/// load_cuda_library, require_cuda_device, and the back end on that device. plans: as
/// CudaLibrary::open has it.
std::unique_ptr<Backend> open_cuda_backend(int index, PlanChooser* plans = nullptr);

}  // namespace trainyard
