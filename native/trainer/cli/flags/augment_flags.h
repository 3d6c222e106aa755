// --augment, --random-erasing, --mixup and --cutmix, which train and bench input share.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "trainer/data/source.h"

namespace trainyard {

/// Where the values go.
struct AugmentOptions {
  std::string& augment;
  double& random_erasing;
  Mixing& mixing;
};

void add_augment_flags(CLI::App& command, const AugmentOptions& to);

}  // namespace trainyard
