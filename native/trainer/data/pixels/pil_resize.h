// Resizing to the very pixels of torchvision's Resize and CenterCrop on a PIL image, which is how
// published models are evaluated.
#pragma once
#include <cstdint>
#include <vector>

#include "trainer/data/images/image.h"

namespace trainyard {

/// Keeps its scratch memory between calls; one thread at a time.
class PilResizer {
 public:
  /// Writes the view of an image that was decoded at full size to out [window.height, window.width,
  /// 3]. Of the image what the view looks at must be there. view.from must be the whole image, and
  /// nothing mirrored. Pillow's src/libImaging/Resample.c, bilinear: a triangle as wide as the step
  /// between outputs (at least one input pixel), weights rounded to 22 bits, columns first, each
  /// pass rounded to 8 bits. A side that keeps its size is not touched.
  void resize(const Image& image, const View& view, uint8_t* out);

 private:
  /// For each output of a window the first input and the weights of it and those after it.
  struct Taps {
    std::vector<int> first;
    std::vector<int> count;
    std::vector<int32_t> weights;  ///< [outputs, stride]
    int stride = 0;
    void set(int inputs, int outputs, int begin, int size);
    const int32_t* of(int output) const {
      return weights.data() + static_cast<size_t>(output) * static_cast<size_t>(stride);
    }
  };

  Taps columns_;
  Taps rows_;
  std::vector<uint8_t> narrow_;  ///< [rows looked at, window.width, 3]
  std::vector<int32_t> sums_;    ///< [window.width, 3]
};

}  // namespace trainyard
