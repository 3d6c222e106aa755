// A view of an image by its definition, for what is to be proven of devices.
#pragma once
#include <cstdint>
#include <vector>

#include "trainer/base/view.h"

namespace trainyard::proof {

/// [window.height, window.width, 3] of the view of pixels [height, width, 3], not rounded: the mean
/// of the part's pixels weighted by a triangle around the output's centre.
std::vector<double> resized(const std::vector<uint8_t>& pixels, int width, const View& view);

}  // namespace trainyard::proof
