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
/// grey or YCbCr with chroma in one sample for one or more pixels, at most 16,384 pixels a side and
/// 32 million pixels in all. std::nullopt for any other file, damaged or not. Only the header is
/// read; the data behind the header may be damaged.
std::optional<JpegSize> plain_jpeg(std::string_view file);

}  // namespace trainyard
