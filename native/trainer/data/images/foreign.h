// Files that are often found among images and are none that can be read.
#pragma once
#include <string_view>

namespace trainyard {

/// Throws BadImage with the name of a format that is known by its first bytes and not read: GIF,
/// WebP, BMP, TIFF, HEIC, AVIF, an HTML page. Anything else is left to the decoders, which say what
/// they miss.
void refuse_foreign(std::string_view file);

}  // namespace trainyard
