// `trainer predict`: class, probability and top five of every image, as CSV or as JSON lines.
#pragma once
#include <cstdint>

#include "trainer/train/plan/options.h"

namespace trainyard {

/// Writes options.out, complete or not at all: JSON lines where the name ends in .jsonl, else CSV.
/// Returns the number of images. Throws Error(Exit::data).
int64_t predict(const PredictOptions& options);

}  // namespace trainyard
