#include "trainer/data/records/pack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "common/error.h"
#include "common/files.h"
#include "common/record_frame.h"
#include "trainer/data/images/image.h"
#include "trainer/data/images/image_header.h"
#include "trainer/data/patience.h"
#include "trainer/data/records/example.h"
#include "trainer/data/records/shards/shard_scan.h"

namespace trainyard {

namespace {

constexpr size_t kWriteAt = size_t{1} << 20;

class Packer {
 public:
  Packer(const std::vector<PackItem>& items, const PackOptions& options) : items_(items), options_(options) {}

  PackSummary run() {
    std::vector<std::thread> threads;
    for (int i = 0; i < std::min(options_.threads, options_.shards); ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
    return summary_;
  }

 private:
  void work() {
    try {
      const auto next = [this] { return options_.first + next_++ * options_.every; };
      for (int i = next(); i < options_.shards && !stopped_; i = next()) write(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stopped_ = true;
    }
  }

  void write(int shard) {
    const std::string path = shard_path(options_.prefix, shard, options_.shards);
    const Descriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!fd) throw file_error("create", path);
    const auto part = [&](int number) { return items_.size() * static_cast<size_t>(number) / options_.shards; };
    std::string kept;
    int64_t images = 0;
    for (size_t i = part(shard); i < part(shard + 1) && !stopped_; ++i) {
      if (const auto example = serialize(items_[i])) {
        kept += framed_record(*example);
        ++images;
      }
      if (kept.size() >= kWriteAt) flush(fd, path, kept);
    }
    flush(fd, path, kept);
    if (::fsync(fd.get()) != 0) throw file_error("sync", path);
    check(fd, path, images);
    if (options_.on_shard) options_.on_shard(path);
  }

  static void flush(const Descriptor& fd, const std::string& path, std::string& kept) {
    write_all(fd.get(), kept, path);
    kept.clear();
  }

  /// The item as an Example, or nothing where it is no image.
  std::optional<std::string> serialize(const PackItem& item) {
    std::optional<std::string> example;
    std::string problem;
    bool has_boxes = false;
    try {
      const std::string file = patience_.read([&] { return item.data->encoded(item.index); });
      const ImageHeader header = read_image_header(file);
      const std::span<const Box> boxes = options_.boxes_of ? options_.boxes_of(item) : std::span<const Box>();
      example = write_example({file, header.format, item.label, options_.class_names[static_cast<size_t>(item.label)],
                               item.filename, header.height, header.width, boxes});
      has_boxes = !boxes.empty();
    } catch (const BadImage& error) {
      problem = error.what();
    }
    const std::lock_guard lock(mutex_);
    if (has_boxes) ++summary_.with_boxes;
    if (!example && options_.on_bad_image) options_.on_bad_image(item.data->name(item.index), problem);
    if (options_.on_item) options_.on_item();
    return example;
  }

  void check(const Descriptor& fd, const std::string& path, int64_t images) {
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0) throw file_error("look at", path);
    ShardScan scan(fd.get(), path, static_cast<uint64_t>(status.st_size));
    int64_t found = 0;
    while (const auto record = scan.next()) {
      if (!record->problem.empty() || !scan.is_sound(*record)) break;
      ++found;
    }
    if (found != images) {
      throw Error(Exit::data, path + " does not read back as it was written, from its record " + std::to_string(found) +
                                  " on. Check the disk and the memory of this machine");
    }
    const std::lock_guard lock(mutex_);
    summary_.images += images;
    summary_.bytes += status.st_size;
  }

  const std::vector<PackItem>& items_;
  const PackOptions& options_;
  Patience patience_;
  std::atomic<int> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  PackSummary summary_;
  std::exception_ptr error_;
};

}  // namespace

std::string shard_path(const std::string& prefix, int shard, int shards) {
  char number[32];
  std::snprintf(number, sizeof number, "-%05d-of-%05d", shard, shards);
  return prefix + number;
}

PackSummary pack(const std::vector<PackItem>& items, const PackOptions& options) {
  return Packer(items, options).run();
}

}  // namespace trainyard
