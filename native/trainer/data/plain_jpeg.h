// Which files a device may decode in the host's place.
#pragma once
#include <optional>
#include <string_view>

namespace trainyard {

struct JpegSize {
  int width = 0;
  int height = 0;
};

/// The size of a JPEG of the usual kind: whole by its last marker, baseline or progressive, 8 bits,
/// grey or YCbCr with chroma in one sample for one or more pixels, of 16,384 pixels a side and 32
/// million at most. Nothing for any other file, sound or not. Looks at the header alone: what comes
/// behind it may still be damaged.
std::optional<JpegSize> plain_jpeg(std::string_view file);

}  // namespace trainyard
