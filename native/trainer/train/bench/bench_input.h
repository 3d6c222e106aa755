// What one core makes of image files.
#pragma once
#include <nlohmann/json.hpp>

#include "trainer/train/plan/options.h"

namespace trainyard {

/// Images of the data set in a mixed order, decoded, augmented and normalised, one after the other
/// on this thread, in batches of 32, which are then mixed where that is asked for. Returns {images,
/// seconds, cpu_seconds (of this process), images_per_sec, image_size, augment, random_erasing,
/// mixup, cutmix, whole}.
nlohmann::json bench_input(const BenchInputOptions& options);

}  // namespace trainyard
