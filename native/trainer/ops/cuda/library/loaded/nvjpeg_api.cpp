#include "trainer/ops/cuda/library/loaded/nvjpeg_api.h"

#include "trainer/ops/cuda/library/loaded/runtime_library.h"
#ifdef TRAINYARD_NVJPEG
#include "trainer/ops/cuda/library/cuda_release.h"
#endif

namespace trainyard::cuda {

namespace {

#ifdef TRAINYARD_NVJPEG

constexpr const char* kFile = "libnvjpeg.so." TRAINYARD_CUDA_RELEASE;
constexpr const char* kAdvice = ". Install nvidia-nvjpeg" TRAINYARD_WHEEL_SUFFIX ", or use --jpeg-decoder cpu";

#endif

}  // namespace

#ifdef TRAINYARD_NVJPEG

NvjpegApi load_nvjpeg_api(const Launcher& launcher) {
  const RuntimeLibrary library(launcher, {.file = kFile, .name = "nvJPEG", .advice = kAdvice});
  NvjpegApi api;
  library.find(api.get_property, "nvjpegGetProperty");
  library.find(api.create_ex, "nvjpegCreateEx");
  library.find(api.destroy, "nvjpegDestroy");
  library.find(api.state_create, "nvjpegJpegStateCreate");
  library.find(api.state_destroy, "nvjpegJpegStateDestroy");
  library.find(api.get_image_info, "nvjpegGetImageInfo");
  library.find(api.decode, "nvjpegDecode");
  return api;
}

std::string nvjpeg_version(const Launcher& launcher) {
  const NvjpegApi api = load_nvjpeg_api(launcher);
  std::string text;
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    if (api.get_property(part, &number) != NVJPEG_STATUS_SUCCESS) {
      fail_device(launcher, std::string(kFile) + " does not tell its version" + kAdvice);
    }
    text += (text.empty() ? "" : ".") + std::to_string(number);
  }
  return text;
}

#else

std::string nvjpeg_version(const Launcher& launcher) {
  fail_device(
      launcher,
      "this CUDA library was built without nvJPEG's header, nvjpeg.h. Build it with that, or use --jpeg-decoder cpu");
  return "";
}

#endif

}  // namespace trainyard::cuda
