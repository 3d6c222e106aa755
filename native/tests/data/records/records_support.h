// Records and shards for the tests, built without the code under test where it matters.
#pragma once
#include <string>
#include <vector>

#include "tests/data/support.h"
#include "trainer/data/records/example.h"

namespace trainyard {

/// A small JPEG that `seed` tells from others.
std::string small_jpeg(uint64_t seed);

/// An Example of that JPEG as Inception's scripts write it.
std::string example_of(uint64_t seed, int64_t label, const std::string& text = "");

/// The framed records, one after the other.
std::string shard_of(const std::vector<std::string>& examples);

/// Protobuf's wire format by hand: a field of bytes, a varint, an entry of Features with a list in
/// it.
std::string varint(uint64_t value);
std::string bytes_field(uint64_t number, const std::string& bytes);
std::string feature(const std::string& name, uint64_t kind, const std::string& list);
std::string example(const std::string& entries);

/// Opens a data set, options.trained and offset as given.
std::unique_ptr<Dataset> open_records_at(const std::string& spec, std::optional<int64_t> label_offset = std::nullopt,
                                         Split split = Split::training);

/// The labels of all images.
std::vector<int> labels_of(const Dataset& data);

}  // namespace trainyard
