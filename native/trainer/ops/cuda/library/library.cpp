// libtrainer_cuda.so's one entry.
#include <cstdio>
#include <cstring>
#include <string>

#include "trainer/ops/cuda/library/abi.h"
#include "trainer/ops/cuda/library/check.h"
#include "trainer/ops/cuda/library/device_backend.h"
#include "trainer/ops/cuda/library/loaded/nccl_api.h"
#include "trainer/ops/cuda/library/loaded/nvjpeg_api.h"
#include "trainer/ops/cuda/library/loaded/nvjpeg_decoder.h"

namespace trainyard::cuda {

namespace {

std::string version(int number, int major, int minor) {
  return std::to_string(number / major) + "." + std::to_string(number % major / minor);
}

/// "GPU-" and the sixteen bytes, as nvidia-smi writes them.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += hex.data();
  }
  return text;
}

std::string pci_text(const cudaDeviceProp& properties) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x", static_cast<unsigned>(properties.pciDomainID),
                static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
  return text.data();
}

class Library final : public CudaLibrary {
 public:
  explicit Library(CudaFail fail) : launcher_{nullptr, fail} {}

  std::vector<CudaDevice> devices() override {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorNoDevice) return {};
    check(launcher_, error, "libtrainer_cuda.so: cudaGetDeviceCount");
    std::vector<CudaDevice> found;
    for (int i = 0; i < count; ++i) found.push_back(device(i));
    return found;
  }

  std::unique_ptr<Backend> open(int device, PlanChooser* plans) override {
    int count = 0;
    check(launcher_, cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    if (device >= count) check(launcher_, cudaErrorInvalidDevice, "cudaSetDevice");
    return make_device_backend(device, launcher_.fail, plans);
  }

  std::string versions() override {
    int runtime = 0;
    int driver = 0;
    int blas[3] = {};
    check(launcher_, cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    check(launcher_, cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    constexpr libraryPropertyType kParts[3] = {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
    for (int i = 0; i < 3; ++i) check(launcher_, cublasGetProperty(kParts[i], &blas[i]), "cublasGetProperty");
    const size_t dnn = cudnnGetVersion();
    return "CUDA " + version(runtime, 1000, 10) +
           (driver > 0 ? ", driver for CUDA " + version(driver, 1000, 10) : std::string(", no driver")) + ", cuDNN " +
           std::to_string(dnn / 10000) + "." + std::to_string(dnn / 100 % 100) + "." + std::to_string(dnn % 100) +
           ", cuBLAS " + std::to_string(blas[0]) + "." + std::to_string(blas[1]) + "." + std::to_string(blas[2]) +
           ", for " TRAINYARD_CUDA_TARGETS;
  }

  std::string nccl_version() override { return cuda::nccl_version(launcher_); }

  std::string nvjpeg_version() override { return cuda::nvjpeg_version(launcher_); }

  std::unique_ptr<DeviceJpeg> make_jpeg_decoder(int device) override { return make_nvjpeg_decoder(device, launcher_); }

 private:
  /// From its properties alone: anything more would make a context, which takes memory of every
  /// GPU.
  CudaDevice device(int index) const {
    cudaDeviceProp properties{};
    check(launcher_, cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
    CudaDevice made;
    made.index = index;
    made.name = properties.name;
    made.uuid = uuid_text(properties.uuid);
    made.pci = pci_text(properties);
    made.capability_major = properties.major;
    made.capability_minor = properties.minor;
    made.usable = has_code_for(properties.major, properties.minor);
    made.memory_total = properties.totalGlobalMem;
    return made;
  }

  /// Code for x.y runs on x.z with z at least y.
  static bool has_code_for(int major, int minor) {
    const std::string targets = TRAINYARD_CUDA_TARGETS;
    for (int low = 0; low <= minor; ++low) {
      if ((targets + " ").find("sm_" + std::to_string(major) + std::to_string(low) + " ") != std::string::npos) {
        return true;
      }
    }
    return false;
  }

  Launcher launcher_;
};

}  // namespace

}  // namespace trainyard::cuda

extern "C" __attribute__((visibility("default"))) trainyard::CudaLibrary* trainyard_cuda(const char* abi,
                                                                                         trainyard::CudaFail fail,
                                                                                         const char** error) {
  if (std::strcmp(abi, TRAINYARD_CUDA_ABI) != 0) {
    *error = "it was built from other sources than this trainer";
    return nullptr;
  }
  *error = nullptr;
  return new trainyard::cuda::Library(fail);
}
