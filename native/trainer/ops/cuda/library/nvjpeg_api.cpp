#include "trainer/ops/cuda/library/nvjpeg_api.h"

#include <dlfcn.h>

#include "common/error.h"

namespace trainyard::cuda {

namespace {

void fail(const Launcher& launcher, const std::string& message) {
  launcher.fail(static_cast<int>(Exit::device), message.c_str());
}

#ifdef TRAINYARD_NVJPEG

constexpr const char* kAdvice = ". Install nvidia-nvjpeg, or use --jpeg-decoder cpu";

template <class F>
void find(const Launcher& launcher, void* library, F& function, const char* name) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  if (function == nullptr) fail(launcher, std::string("libnvjpeg.so.13 has no ") + name + kAdvice);
}

#endif

}  // namespace

#ifdef TRAINYARD_NVJPEG

NvjpegApi load_nvjpeg_api(const Launcher& launcher) {
  // By its name: that is the one the trainer loaded by its path, where it found one. Never closed.
  void* library = ::dlopen("libnvjpeg.so.13", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(launcher, std::string("nvJPEG cannot be loaded: ") + ::dlerror() + kAdvice);
  NvjpegApi api;
  find(launcher, library, api.get_property, "nvjpegGetProperty");
  find(launcher, library, api.create_ex, "nvjpegCreateEx");
  find(launcher, library, api.destroy, "nvjpegDestroy");
  find(launcher, library, api.state_create, "nvjpegJpegStateCreate");
  find(launcher, library, api.state_destroy, "nvjpegJpegStateDestroy");
  find(launcher, library, api.get_image_info, "nvjpegGetImageInfo");
  find(launcher, library, api.decode, "nvjpegDecode");
  return api;
}

std::string nvjpeg_version(const Launcher& launcher) {
  const NvjpegApi api = load_nvjpeg_api(launcher);
  std::string text;
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    if (api.get_property(part, &number) != NVJPEG_STATUS_SUCCESS) {
      fail(launcher, std::string("libnvjpeg.so.13 does not tell its version") + kAdvice);
    }
    text += (text.empty() ? "" : ".") + std::to_string(number);
  }
  return text;
}

#else

std::string nvjpeg_version(const Launcher& launcher) {
  fail(launcher,
       "this CUDA library was built without nvJPEG's header, nvjpeg.h. Build it with that, or use --jpeg-decoder cpu");
  return "";
}

#endif

}  // namespace trainyard::cuda
