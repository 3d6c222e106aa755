// Which files of a folder are TFRecord shards, and which of them belong together.
#pragma once
#include <string>
#include <vector>

#include "trainer/data/source.h"

namespace trainyard {

/// Whether `file` is named like a shard: NAME-00003-of-00016 (with - or _ before the number, an
/// ending .tfrecord, .tfrecords or .tfrec, there or before the number), or any name with such an
/// ending; each also with .gz behind it.
bool is_shard_name(const std::string& file);

/// Whether the shard named `file` is meant by `wanted`, which is how the name begins, a word in it,
/// or all of it.
bool names_shard(const std::string& wanted, const std::string& file);

/// The shards of `files` that a data set is made of, in the order of their names.
/// wanted empty: those for `split` by the words in their names (train and training; validation,
/// valid, val, eval and dev; test and testing). Training takes the train ones, else those without
/// such a word; evaluation takes the validation ones, else the test ones; shards of one kind only
/// are taken for both. Else those that `wanted` names. Throws Error(Exit::data), naming `folder`:
/// none are left, it cannot be told which, or one of a numbered set is missing
/// (unless `wanted` is a file's whole name).
std::vector<std::string> choose_shards(const std::string& folder, const std::vector<std::string>& files, Split split,
                                       const std::string& wanted);

}  // namespace trainyard
