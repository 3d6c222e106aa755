// JPEG to RGB and back, by libjpeg-turbo.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "trainer/data/images/image.h"

namespace trainyard {

/// How many times smaller a width x height image is decoded: 1, 2, 4 or 8, as far as its shorter
/// side stays at least `shorter_side`.
int jpeg_shrink(int width, int height, int shorter_side);

/// Decodes JPEG files one after the other. Keeps libjpeg's state between calls; one thread at a
/// time.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// Decodes `bytes` into `image`, whose memory is reused. It is shrunk while decoding as
  /// jpeg_shrink says. Grey and CMYK become RGB.
  /// Throws BadImage for anything else than a whole, sound JPEG: truncated, corrupt, of another
  /// format, or larger than 100 million pixels. Warnings about things that do not touch the pixels
  /// (bytes between markers) are let pass.
  void decode(std::string_view bytes, int shorter_side, Image& image) { decode(bytes, shorter_side, {}, image); }

  /// Which part of a file of this width and height is wanted, in its pixels.
  using Part = std::function<Rect(int width, int height)>;
  /// Decodes only what `part` asks for, and somewhat more: the same pixels as of the whole, in less
  /// time. Damage below the part may go unnoticed; a file that is cut short does not.
  void decode(std::string_view bytes, int shorter_side, const Part& part, Image& image);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Encodes as baseline JPEG (4:4:4, accurate DCT), the same bytes on every machine. quality: 1 to
/// 100.
std::string encode_jpeg(const Image& image, int quality);

}  // namespace trainyard
