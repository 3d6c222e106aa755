#include "trainer/data/records/shard_files.h"

#include <fcntl.h>

#include "common/error.h"

namespace trainyard {

namespace {
constexpr size_t kMostOpen = 256;  // a quarter of what a process usually may have
}

std::shared_ptr<const Descriptor> ShardFiles::open(size_t shard) const {
  {
    const std::lock_guard lock(mutex_);
    if (open_[shard]) return open_[shard];
  }
  auto opened = std::make_shared<const Descriptor>(::open(paths_[shard].c_str(), O_RDONLY | O_CLOEXEC));
  if (!*opened) throw file_error("open", paths_[shard]);
  const std::lock_guard lock(mutex_);
  if (!open_[shard] && kept_ < kMostOpen) {
    open_[shard] = opened;
    ++kept_;
  }
  return opened;
}

}  // namespace trainyard
