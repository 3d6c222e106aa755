// What one core makes of image files.
#pragma once
#include <nlohmann/json.hpp>

#include "trainer/train/plan/options.h"

namespace trainyard {

/// Images of the data set in a mixed order, decoded, a random part resized, mirrored half of the
/// time and normalised, one after the other on this thread, in batches of 32. Returns {images,
/// seconds, cpu_seconds (of this process), images_per_sec, image_size, whole}.
nlohmann::json bench_input(const BenchInputOptions& options);

}  // namespace trainyard
