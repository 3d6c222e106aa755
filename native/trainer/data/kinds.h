// The kinds of data sets behind open_dataset. A new kind is one more class that implements Dataset,
// one more function here and one more line in open.cpp; loader and training loop stay as they are.
#pragma once
#include <memory>
#include <string>

#include "trainer/data/source.h"

namespace trainyard {

bool is_synthetic(const std::string& spec);

/// Images drawn from their index: one smooth colour pattern a class under strong noise, so that a
/// loss can fall, with nothing read from disk. Throws Error(Exit::usage) for a malformed spec.
std::unique_ptr<Dataset> open_synthetic(const std::string& spec, int image_size);

/// A folder of class folders. listed: as DatasetOptions has it. Throws Error(Exit::data) as
/// open_dataset says.
std::unique_ptr<Dataset> open_folder(const std::string& folder, const std::function<void()>& listed = {});

/// Images of which no class is known: those of a folder and of all folders below it, one image
/// (told by its name), or those of a list, a text file with a path a line (from the list's own
/// folder where it is not absolute). In a folder its own images come first, then those of its
/// folders, by the bytes of their names; hidden ones and links to folders are left out.
/// class_names: what class_names() is to say; each label is 0, without meaning. Throws
/// Error(Exit::data): there is nothing there, or a line that names no file (with its number).
std::unique_ptr<Dataset> open_plain_images(const std::string& spec, std::vector<std::string> class_names);

/// Whether spec names a folder with TFRecord shards in it, such a shard, or FOLDER/NAME as
/// open_records takes it.
bool is_records(const std::string& spec);

/// TFRecord shards of tf.train.Example: those of a folder, or those of FOLDER whose names begin
/// with NAME. Throws Error(Exit::data) as choose_shards, index_records and name_classes do.
std::unique_ptr<Dataset> open_records(const std::string& spec, const DatasetOptions& options);

}  // namespace trainyard
