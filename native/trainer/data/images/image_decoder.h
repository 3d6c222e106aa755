// An image file of any kind that is understood, whatever its name says.
#pragma once
#include <string_view>

#include "trainer/data/images/foreign.h"
#include "trainer/data/images/jpeg.h"
#include "trainer/data/images/png.h"

namespace trainyard {

/// Keeps scratch memory between calls; one thread at a time.
class ImageDecoder {
 public:
  /// A PNG by its first bytes, else a JPEG, which is shrunk as JpegDecoder says. Throws BadImage.
  void decode(std::string_view file, int shorter_side, Image& image) { decode(file, shorter_side, {}, image); }

  /// Of a JPEG only what `part` asks for, as JpegDecoder says.
  void decode(std::string_view file, int shorter_side, const JpegDecoder::Part& part, Image& image) {
    if (is_png(file)) return decode_png(file, image);
    refuse_foreign(file);
    jpeg_.decode(file, shorter_side, part, image);
  }

 private:
  JpegDecoder jpeg_;
};

}  // namespace trainyard
