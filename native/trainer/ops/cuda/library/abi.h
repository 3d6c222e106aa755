// What the trainer and libtrainer_cuda.so know of one another. Both are built from the same sources
// by the same compiler, so classes may cross; that they were is checked by a hash of the headers
// that say what crosses.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/base/device_jpeg.h"
#include "trainer/ops/contract/backend.h"
#include "trainer/ops/cuda/library/cudnn/plan_chooser.h"

namespace trainyard {

struct CudaDevice {
  int index = 0;  ///< as CUDA counts, behind CUDA_VISIBLE_DEVICES
  std::string name;
  std::string uuid;  ///< as nvidia-smi writes it, "GPU-…"
  std::string pci;   ///< "0000:17:00": where it is, which parts of one GPU share
  uint64_t memory_total = 0;
  int capability_major = 0;
  int capability_minor = 0;
  bool usable = false;  ///< whether the library holds code for it
};

class CudaLibrary {
 public:
  virtual ~CudaLibrary() = default;
  /// Throws Error(Exit::device) where there is no driver, or one that is too old. May be empty.
  virtual std::vector<CudaDevice> devices() = 0;
  /// The back end on one device. plans: decides which of cuDNN's plans training takes, where ops are
  /// made; not owned; nullptr: cuDNN's heuristics. Throws Error(Exit::device) when it cannot be used.
  virtual std::unique_ptr<Backend> open(int device, PlanChooser* plans) = 0;
  /// "CUDA 13.0, driver for CUDA 13.0, cuDNN 9.19.0, cuBLAS 13.1.0, for sm_80 sm_90".
  virtual std::string versions() = 0;
  /// "2.32.3": of the NCCL that sums between GPUs. Throws Error(Exit::device) where there is none
  /// that can be used.
  virtual std::string nccl_version() = 0;
  /// "13.0.1": of the nvJPEG that decodes images. Throws Error(Exit::device) where there is none
  /// that can be used.
  virtual std::string nvjpeg_version() = 0;
  /// A decoder on that device for the thread that calls. Throws as nvjpeg_version() and open() do.
  virtual std::unique_ptr<DeviceJpeg> make_jpeg_decoder(int device) = 0;
};

/// Throws the trainer's Error from the trainer's own code, since exceptions thrown in a library of
/// another C++ runtime are not caught outside it. Never returns.
using CudaFail = void (*)(int exit_code, const char* message, bool worth_retrying);

inline constexpr const char* kCudaEntryName = "trainyard_cuda";

/// The library's one entry: nullptr in `error` and a library, or a text (static) and nullptr.
using CudaEntry = CudaLibrary* (*)(const char* abi, CudaFail fail, const char** error);

}  // namespace trainyard
