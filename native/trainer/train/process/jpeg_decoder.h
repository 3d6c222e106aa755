// Where JPEGs are decoded: --jpeg-decoder.
#pragma once
#include <string>

#include "trainer/base/device_jpeg.h"

namespace trainyard {

struct JpegDecoderChoice {
  std::string decoder = "cpu";  ///< or nvjpeg
  std::string device = "cpu";   ///< where the network computes
  std::string cache = "none";   ///< or ram
};

/// Throws Error(Exit::usage) where nvjpeg and the rest do not go together.
void check_jpeg_decoder(const JpegDecoderChoice& choice);

/// What makes decoders on CUDA device `index`; nothing for cpu. Throws Error(Exit::device) where
/// nvJPEG cannot be had.
MakeDeviceJpeg jpeg_decoder_maker(const std::string& decoder, int index);

}  // namespace trainyard
