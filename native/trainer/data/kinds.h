// The kinds of data sets behind open_dataset. A new kind (shards of records, say) is one more class that implements
// Dataset, one more function here and one more line in open.cpp; loader and training loop stay as they are.
#pragma once
#include <memory>
#include <string>

#include "trainer/data/source.h"

namespace trainyard {

bool is_synthetic(const std::string& spec);

/// Images drawn from their index: one smooth colour pattern a class under strong noise, so that a loss can fall, with
/// nothing read from disk. Throws Error(Exit::usage) for a malformed spec.
std::unique_ptr<Dataset> open_synthetic(const std::string& spec, int image_size);

/// A folder of class folders. Throws Error(Exit::data) as open_dataset says.
std::unique_ptr<Dataset> open_folder(const std::string& folder);

}  // namespace trainyard
