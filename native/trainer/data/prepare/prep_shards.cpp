#include "trainer/data/prepare/prep_shards.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "common/error.h"
#include "common/files.h"
#include "trainer/base/random.h"
#include "trainer/data/prepare/box_file.h"
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

/// Every rank reads them, and rank 0 speaks.
FoundBoxes find_boxes(const PrepOptions& options) {
  BoxReading reading;
  if (options.stage) {
    reading.progress = [&](int64_t done, int64_t total) { options.stage("reading " + options.boxes, done, total); };
  }
  if (options.ranks.rank == 0) reading.on_bad_file = options.on_bad_image;
  return read_boxes(options.boxes, reading);
}

/// How many boxes belong to no image. The same boxes for two images would be wrong for one of them.
int64_t count_unmatched(const BoxTable& boxes, const Halves& halves, const std::string& path) {
  std::vector<const PackItem*> matched(boxes.images());
  size_t unmatched = boxes.boxes();
  for (const auto* half : {&halves.train, &halves.validation}) {
    for (const PackItem& item : *half) {
      const auto at = boxes.find(image_stem(item.filename));
      if (!at) continue;
      if (matched[*at] != nullptr) {
        throw Error(Exit::data, "the boxes of " + std::string(boxes.name(*at)) + " in " + path +
                                    " may be of two images, " + matched[*at]->filename + " and " + item.filename +
                                    ". Give the images names of their own, or leave --boxes out");
      }
      matched[*at] = &item;
      unmatched -= boxes.of(*at).size();
    }
  }
  if (unmatched < boxes.boxes()) return static_cast<int64_t>(unmatched);
  const PackItem& first = halves.train.empty() ? halves.validation.front() : halves.train.front();
  throw Error(Exit::data, "no image has boxes in " + path + ", which has those of " + std::string(boxes.name(0)) +
                              ", while an image is " + first.filename +
                              ". Give the boxes of these images, by the same names, or leave --boxes out");
}

}  // namespace

PrepSummary prep_shards(const PrepOptions& options, const PartialFolder& folder,
                        const std::function<void(const std::string& path)>& on_shard) {
  std::optional<FoundBoxes> boxes;
  if (!options.boxes.empty()) boxes = find_boxes(options);  // before the long walk through the images
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
  if (boxes) {
    summary.boxes = BoxSummary{.images = 0,
                               .unmatched = count_unmatched(boxes->table, halves, options.boxes),
                               .without_area = boxes->without_area,
                               .no_annotation = boxes->no_annotation};
  }
  int64_t done = 0;
  PackOptions packing;
  if (boxes) {
    packing.boxes_of = [&table = boxes->table](const PackItem& item) {
      const auto at = table.find(image_stem(item.filename));
      return at ? table.of(*at) : std::span<const Box>();
    };
  }
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
    if (summary.boxes) summary.boxes->images += packed.with_boxes;
  }
  if (options.ranks.rank == 0) write_labels(folder, halves.class_names);
  return summary;
}

}  // namespace trainyard
