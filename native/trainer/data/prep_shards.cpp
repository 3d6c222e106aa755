#include "trainer/data/prep_shards.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "common/error.h"
#include "common/files.h"
#include "trainer/base/random.h"
#include "trainer/data/kinds.h"
#include "trainer/data/records/pack.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSplitTag = 0x73706c6974ULL;
constexpr uint64_t kShuffleTag = 0x73687566666cULL;
constexpr double kDefaultValidation = 0.2;
constexpr int64_t kMostBadImages = 100;

void shuffle(std::vector<PackItem>& items, Random random) {
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

PackItem item(const Dataset& data, size_t index, int64_t label) {
  const fs::path path = data.name(index);
  return {&data, index, label, (path.parent_path().filename() / path.filename()).string()};
}

/// The two halves of a data set, and what they are made of.
struct Halves {
  std::vector<std::unique_ptr<Dataset>> sets;
  std::vector<std::string> class_names;
  std::vector<PackItem> train;
  std::vector<PackItem> validation;
};

/// Of each class round(images * fraction) validate, drawn by the seed, but at least one trains.
Halves split(const std::string& from, double fraction, uint64_t seed) {
  Halves halves;
  halves.sets.push_back(open_folder(from));
  const Dataset& data = *halves.sets.front();
  halves.class_names = data.class_names();
  for (size_t begin = 0; begin < data.size();) {
    size_t end = begin;
    while (end < data.size() && data.label(end) == data.label(begin)) ++end;
    std::vector<PackItem> images;
    for (size_t i = begin; i < end; ++i) images.push_back(item(data, i, data.label(i)));
    shuffle(images, Random({seed, static_cast<uint64_t>(data.label(begin)), kSplitTag}));
    const auto wanted = static_cast<size_t>(std::llround(static_cast<double>(images.size()) * fraction));
    const auto middle = images.begin() + static_cast<ptrdiff_t>(std::min(wanted, images.size() - 1));
    for (const auto& [first, last, half] :
         {std::tuple(images.begin(), middle, &halves.validation), std::tuple(middle, images.end(), &halves.train)}) {
      std::sort(first, last, [](const PackItem& a, const PackItem& b) { return a.index < b.index; });
      half->insert(half->end(), first, last);
    }
    begin = end;
  }
  return halves;
}

/// Halves that stand apart already. The training half's classes count.
Halves given(const std::string& train, const std::string& validation) {
  Halves halves;
  halves.sets.push_back(open_folder(train));
  halves.class_names = halves.sets.front()->class_names();
  for (size_t i = 0; i < halves.sets.front()->size(); ++i) {
    halves.train.push_back(item(*halves.sets.front(), i, halves.sets.front()->label(i)));
  }
  if (validation.empty()) return halves;
  halves.sets.push_back(open_folder(validation));
  const Dataset& data = *halves.sets.back();
  for (size_t i = 0; i < data.size(); ++i) {
    const std::string& name = data.class_names()[static_cast<size_t>(data.label(i))];
    const auto at = std::lower_bound(halves.class_names.begin(), halves.class_names.end(), name);
    if (at == halves.class_names.end() || *at != name) {
      throw Error(Exit::data, "class " + name + " in " + validation + " has no folder in " + train +
                                  ". Put it there too, or remove it");
    }
    halves.validation.push_back(item(data, i, at - halves.class_names.begin()));
  }
  return halves;
}

Halves find_halves(const std::string& from, const PrepOptions& options) {
  std::error_code ignored;
  const auto folder = [&](const char* name) {
    return fs::is_directory(from + "/" + name, ignored) ? from + "/" + name : std::string();
  };
  const std::string validation = folder("validation").empty() ? folder("val") : folder("validation");
  if (folder("train").empty()) return split(from, options.validation.value_or(kDefaultValidation), options.seed);
  if (options.validation && *options.validation > 0 && !validation.empty()) {
    throw Error(Exit::usage, from + " has train and validation folders already. Leave --validation out, or name " +
                                 folder("train") + " with --from");
  }
  if (validation.empty()) return split(folder("train"), options.validation.value_or(0), options.seed);
  return given(folder("train"), options.validation == 0.0 ? std::string() : validation);
}

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

PrepSummary prep_shards(const std::string& from, const PrepOptions& options, const PartialFolder& folder) {
  Halves halves = find_halves(from, options);
  check_shards(halves.train, "training", options.shards);
  check_shards(halves.validation, "validation", options.shards);
  if (options.shuffle) {
    shuffle(halves.train, Random({options.seed, 0, kShuffleTag}));
    shuffle(halves.validation, Random({options.seed, 1, kShuffleTag}));
  }
  PrepSummary summary;
  summary.class_names = halves.class_names;
  const auto total = static_cast<int64_t>(halves.train.size() + halves.validation.size());
  int64_t done = 0;
  PackOptions packing;
  packing.shards = options.shards;
  packing.threads = options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  packing.threads = std::clamp(packing.threads, 1, 64);
  packing.class_names = halves.class_names;
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
  write_labels(folder, halves.class_names);
  return summary;
}

}  // namespace trainyard
