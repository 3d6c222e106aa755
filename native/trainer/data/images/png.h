// PNG to RGB and back, by libpng.
#pragma once
#include <string>
#include <string_view>

#include "trainer/data/images/image.h"

namespace trainyard {

bool is_png(std::string_view file);

/// Decodes `file` into `image`, whose memory is reused. Grey and palettes become RGB, 16 bits a
/// sample 8, and an alpha channel is left out, as TensorFlow's decode_png(channels=3) does. Throws
/// BadImage for anything else than a whole, sound PNG: truncated, corrupt, of another format, or
/// larger than kMostPixels.
void decode_png(std::string_view file, Image& image);

/// Encodes a whole image as an 8-bit RGB PNG, by libpng's own choice of filters and compression.
std::string encode_png(const Image& image);

}  // namespace trainyard
