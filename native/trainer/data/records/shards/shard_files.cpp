#include "trainer/data/records/shards/shard_files.h"

#include <fcntl.h>

#include <array>

#include "common/error.h"
#include "common/record_frame.h"
#include "trainer/data/records/byte_source.h"
#include "trainer/data/records/unpack.h"

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
  std::array<char, kRecordHeader> head{};
  const size_t read = read_at(opened->get(), 0, head.data(), head.size(), paths_[shard]);
  const bool packed = is_gzip({head.data(), read});
  if (packed) opened = std::make_shared<const Descriptor>(unpack(*opened, paths_[shard]));
  const std::lock_guard lock(mutex_);
  if (!open_[shard] && (packed || kept_ < kMostOpen)) {
    open_[shard] = opened;
    if (!packed) ++kept_;
  }
  return opened;
}

void ShardFiles::forget(size_t shard) const {
  const std::lock_guard lock(mutex_);
  open_[shard] = nullptr;
}

}  // namespace trainyard
