// Indices of elements, taken apart.
#pragma once
#include "trainer/ops/cuda/math/host_device.h"

namespace trainyard::cuda {

/// Where one of NHWC's elements lies.
struct Position {
  unsigned c;
  int w, h;
  unsigned n;

  TRAINYARD_HD static Position of(unsigned i, unsigned channels, int height, int width) {
    const unsigned pixel = i / channels;
    const unsigned row = pixel / static_cast<unsigned>(width);
    return {i % channels, static_cast<int>(pixel % static_cast<unsigned>(width)),
            static_cast<int>(row % static_cast<unsigned>(height)), row / static_cast<unsigned>(height)};
  }
};

}  // namespace trainyard::cuda
