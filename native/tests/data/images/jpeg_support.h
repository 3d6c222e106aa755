// JPEGs of every kind, by libjpeg's own encoder.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
// jpeglib.h needs FILE and size_t declared before it.
#include <jpeglib.h>

#include <functional>
#include <string>
#include <vector>

namespace trainyard {

struct Samples {
  int width;
  int height;
  J_COLOR_SPACE space;
  std::vector<uint8_t> values;  ///< [height, width, channels]
};

/// A JPEG with whatever `change` sets on the encoder before it starts.
std::string encode(const Samples& samples, const std::function<void(jpeg_compress_struct&)>& change);

void as_usual(jpeg_compress_struct& compress);

/// An image of `width` x `height` in colours.
Samples drawn(int width, int height);
/// One colour in CMYK.
Samples ink();

}  // namespace trainyard
