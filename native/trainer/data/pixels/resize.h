// Antialiased bilinear resizing: what PIL's and torchvision's default does, so that accuracies can
// be compared.
#pragma once
#include <cstdint>
#include <vector>

#include "trainer/base/view.h"
#include "trainer/data/images/image.h"

namespace trainyard {

/// The pixels of the file that a view looks at.
Rect looked_at(const View& view);

/// Keeps its scratch memory between calls; one thread at a time.
class Resizer {
 public:
  /// Writes the view to out [window.height, window.width, 3]. Of the image what the view looks at
  /// must be there. Triangle filter as wide as the step between outputs (at least one input pixel),
  /// clipped at the part's edges and normalised (Turkowski 1990, "Filters for Common Resampling
  /// Tasks"); both passes in float, rounded once.
  void resize(const Image& image, const View& view, uint8_t* out);

 private:
  /// For each output coordinate the first input coordinate and the weights of it and those after
  /// it.
  struct Taps {
    std::vector<int> first;
    std::vector<int> count;
    std::vector<float> weights;  ///< [outputs, stride], zeros behind the last one of each
    int stride = 0;              ///< the most inputs that an output has
    /// For outputs [begin, begin + size) of `outputs`, which cover [from, from + extent) of
    /// `inputs` inputs.
    void set(double from, double extent, int inputs, int outputs, int begin, int size);
    /// Turns the order of the outputs around.
    void mirror();
  };
  Taps columns_;
  Taps rows_;
  std::vector<float> row_;
};

}  // namespace trainyard
