// Images written as TFRecord shards.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trainer/data/boxes.h"
#include "trainer/data/source.h"

namespace trainyard {

struct PackItem {
  const Dataset* data;
  size_t index;
  int64_t label;
  std::string filename;  ///< as the record names it
};

struct PackOptions {
  std::string prefix;  ///< of the files: PREFIX-00000-of-00008
  int shards = 1;
  int first = 0;  ///< written are shard `first` and each `every`-th after it
  int every = 1;
  int threads = 1;
  std::vector<std::string> class_names;  ///< by label
  /// Called, from the writing threads, for the bounding boxes of an item; they stay until all is
  /// packed.
  std::function<std::span<const Box>(const PackItem& item)> boxes_of;
  /// Called with each shard once it is whole, from the writing threads, several at a time.
  std::function<void(const std::string& path)> on_shard;
  /// Called for each item that was written or left out, from the writing threads, one at a time.
  std::function<void()> on_item;
  /// Called before on_item for an item that is no readable image and is left out; it may throw to
  /// end the work.
  std::function<void(const std::string& name, const std::string& message)> on_bad_image;
};

struct PackSummary {
  int64_t images = 0;
  int64_t with_boxes = 0;  ///< of these
  int64_t bytes = 0;
};

/// PREFIX-00003-of-00008.
std::string shard_path(const std::string& prefix, int shard, int shards);

/// Writes the items in their order, in equal parts, one a shard, and of these the ones that
/// `options` asks for; the summary is of them. Each shard is fsynced, then read
/// back and its sums compared. Throws Error(Exit::data): a file cannot be written, or does not read
/// back as it was written.
PackSummary pack(const std::vector<PackItem>& items, const PackOptions& options);

}  // namespace trainyard
