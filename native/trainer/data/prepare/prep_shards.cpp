#include "trainer/data/prepare/prep_shards.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "common/error.h"
#include "common/files.h"
#include "trainer/base/random.h"
#include "trainer/data/prepare/prep_halves.h"
#include "trainer/data/records/pack.h"

namespace trainyard {

namespace {

constexpr uint64_t kShuffleTag = 0x73687566666cULL;
constexpr int64_t kMostBadImages = 100;

void check_shards(const std::vector<PackItem>& half, const char* name, int shards) {
  if (half.empty() || half.size() >= static_cast<size_t>(shards)) return;
  throw Error(Exit::usage, "--shards " + std::to_string(shards) + " is more than the " + std::to_string(half.size()) +
                               " images of the " + name + " half. Set it to " + std::to_string(half.size()) +
                               " or less");
}

void write_labels(const PartialFolder& folder, const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].find('\n') != std::string::npos) {
      throw Error(Exit::data, "the name of class folder " + std::to_string(i) + " has a line break. Rename it");
    }
    text += std::to_string(i) + ":" + names[i] + "\n";
  }
  const std::string path = folder.path() + "/labels.txt";
  const Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd) throw file_error("create", path);
  write_all(fd.get(), text, path);
  if (::fsync(fd.get()) != 0) throw file_error("sync", path);
}

}  // namespace

PrepSummary prep_shards(const PrepOptions& options, const PartialFolder& folder,
                        const std::function<void(const std::string& path)>& on_shard) {
  Halves halves = find_halves(options);
  check_shards(halves.train, "training", options.shards);
  check_shards(halves.validation, "validation", options.shards);
  if (options.shuffle) {
    shuffle(halves.train, Random({options.seed, 0, kShuffleTag}));
    shuffle(halves.validation, Random({options.seed, 1, kShuffleTag}));
  }
  PrepSummary summary;
  summary.class_names = halves.class_names;
  const auto total = static_cast<int64_t>(halves.train.size() + halves.validation.size());
  summary.found = total;
  int64_t done = 0;
  PackOptions packing;
  packing.shards = options.shards;
  packing.first = options.ranks.rank;
  packing.every = options.ranks.world;
  packing.threads = options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  packing.threads = std::clamp(packing.threads, 1, 64);
  packing.class_names = halves.class_names;
  packing.on_shard = on_shard;
  packing.on_item = [&] {
    if (options.progress) options.progress(++done, total);
  };
  packing.on_bad_image = [&](const std::string& name, const std::string& message) {
    if (options.on_bad_image) options.on_bad_image(name, message);
    if (++summary.left_out <= kMostBadImages) return;
    throw Error(Exit::data, "more than " + std::to_string(kMostBadImages) +
                                " files are no readable images, the last one " + name + " (" + message +
                                "). Repair or remove them");
  };
  for (const auto& [half, name, count] : {std::tuple(&halves.train, "train", &summary.train_images),
                                          std::tuple(&halves.validation, "validation", &summary.validation_images)}) {
    if (half->empty()) continue;
    packing.prefix = folder.path() + "/" + name;
    const PackSummary packed = pack(*half, packing);
    *count = packed.images;
    summary.bytes += packed.bytes;
  }
  if (options.ranks.rank == 0) write_labels(folder, halves.class_names);
  return summary;
}

}  // namespace trainyard
