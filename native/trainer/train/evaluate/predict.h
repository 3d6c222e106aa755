// `trainer predict`: class, probability and top five of every image, as CSV.
#pragma once
#include <cstdint>

#include "trainer/train/plan/options.h"

namespace trainyard {

/// Writes options.out (complete or not at all). Returns the number of images. Throws
/// Error(Exit::data).
int64_t predict(const PredictOptions& options);

}  // namespace trainyard
