// What an image file says of itself before its pixels.
#pragma once
#include <string_view>

namespace trainyard {

struct ImageHeader {
  std::string_view format;  ///< "JPEG" or "PNG"
  int width = 0;
  int height = 0;
};

/// Throws BadImage for what is neither a JPEG nor a PNG file or ends within its header. The pixels
/// may still be damaged.
ImageHeader read_image_header(std::string_view file);

}  // namespace trainyard
