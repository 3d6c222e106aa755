// What an image file says of itself before its pixels.
#pragma once
#include <string_view>

namespace trainyard {

struct ImageHeader {
  std::string_view format;  ///< "JPEG"
  int width = 0;
  int height = 0;
};

/// Throws BadImage for what is no JPEG file or ends within its header. The pixels may still be damaged.
ImageHeader read_image_header(std::string_view file);

}  // namespace trainyard
