// nvJPEG's functions, found at run time: only --jpeg-decoder nvjpeg needs them.
#pragma once
#include <string>

#include "trainer/ops/cuda/launch.h"

// Whoever builds the library without it may have no header of nvJPEG's.
#if __has_include(<nvjpeg.h>)
#define TRAINYARD_NVJPEG 1
#include <nvjpeg.h>
#endif

namespace trainyard::cuda {

#ifdef TRAINYARD_NVJPEG
struct NvjpegApi {
  decltype(&nvjpegGetProperty) get_property = nullptr;
  decltype(&nvjpegCreateEx) create_ex = nullptr;
  decltype(&nvjpegDestroy) destroy = nullptr;
  decltype(&nvjpegJpegStateCreate) state_create = nullptr;
  decltype(&nvjpegJpegStateDestroy) state_destroy = nullptr;
  decltype(&nvjpegGetImageInfo) get_image_info = nullptr;
  decltype(&nvjpegDecode) decode = nullptr;
};

/// Of the libnvjpeg.so.13 that the trainer loaded, or of the system's. Fails naming what is missing
/// in it.
NvjpegApi load_nvjpeg_api(const Launcher& launcher);
#endif

/// "13.0.1". Fails as load_nvjpeg_api.
std::string nvjpeg_version(const Launcher& launcher);

}  // namespace trainyard::cuda
