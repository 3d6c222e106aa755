// A JPEG decoder on a device, as those who read images see it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "trainer/base/view.h"

namespace trainyard {

/// One thread's: made, used and thrown away by it.
class DeviceJpeg {
 public:
  virtual ~DeviceJpeg() = default;
  /// Fills out [window.height, window.width, 3] with the view of a JPEG file of width x height.
  /// False where the device does not decode this file: the host may. Throws Error(Exit::device)
  /// when the device fails.
  virtual bool read(std::string_view file, int width, int height, const View& view, uint8_t* out) = 0;
};

/// Nothing: the host decodes.
using MakeDeviceJpeg = std::function<std::unique_ptr<DeviceJpeg>()>;

}  // namespace trainyard
