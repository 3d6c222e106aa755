// The kinds of data sets behind open_dataset. A new kind is one more class that implements Dataset, one more
// function here and one more line in open.cpp; loader and training loop stay as they are.
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

/// Whether spec names a folder with TFRecord shards in it, such a shard, or FOLDER/NAME as open_records takes it.
bool is_records(const std::string& spec);

/// TFRecord shards of tf.train.Example: those of a folder, or those of FOLDER whose names begin with NAME. Throws
/// Error(Exit::data) as choose_shards, index_records and name_classes do.
std::unique_ptr<Dataset> open_records(const std::string& spec, const DatasetOptions& options);

}  // namespace trainyard
