// JPEGs decoded by nvJPEG, cropped and resized by our own kernel.
#pragma once
#include <memory>

#include "trainer/base/device_jpeg.h"
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

/// For the thread that calls, on a stream of its own. Fails where there is no nvJPEG or no such
/// device.
std::unique_ptr<DeviceJpeg> make_nvjpeg_decoder(int device, const Launcher& launcher);

}  // namespace trainyard::cuda
