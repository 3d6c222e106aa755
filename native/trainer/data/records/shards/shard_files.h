// The shards of a data set, opened as they are needed.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/files.h"

namespace trainyard {

/// Safe to use from many threads. A shard that is compressed by gzip is unpacked when it is first
/// opened, and stays open; offsets are those of what it holds.
class ShardFiles {
 public:
  explicit ShardFiles(std::vector<std::string> paths) : paths_(std::move(paths)), open_(paths_.size()) {}

  size_t size() const { return paths_.size(); }
  const std::string& path(size_t shard) const { return paths_[shard]; }

  /// Some stay open; the rest, of data sets of very many shards, is opened each time, as a process
  /// may only have so many. Throws file_error, and what unpack throws.
  std::shared_ptr<const Descriptor> open(size_t shard) const;

  /// After a failure of a disk: the next open() opens the shard anew.
  void forget(size_t shard) const;

 private:
  std::vector<std::string> paths_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Descriptor>> open_;
  mutable size_t kept_ = 0;  ///< who was forgotten still counts
};

}  // namespace trainyard
