// --augment and --random-erasing, which train and bench input share.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace trainyard {

void add_augment_flags(CLI::App& command, std::string& augment, double& random_erasing);

}  // namespace trainyard
