// What a save that was cut off between its two renames left behind.
#pragma once
#include <string>

#include "trainer/checkpoint/file_system.h"

namespace trainyard {

/// Gives every .old-step-… its name back where no valid checkpoint stands under it, and removes it
/// where one does. For the one process that writes. Throws file_error.
void settle_replaced(FileSystem& files, const std::string& run_dir);

/// Renames FOLDER/NAME to a temporary name, then removes it: a half-removed one is never under a
/// checkpoint's name.
void discard(FileSystem& files, const std::string& folder, const std::string& name);

}  // namespace trainyard
