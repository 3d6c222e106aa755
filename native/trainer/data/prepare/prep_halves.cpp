#include "trainer/data/prepare/prep_halves.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include "common/error.h"
#include "trainer/data/archive/archive_set.h"
#include "trainer/data/kinds.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSplitTag = 0x73706c6974ULL;
constexpr double kDefaultValidation = 0.2;

PackItem item(const Dataset& data, size_t index, int64_t label) {
  const std::string& of_class = data.class_names()[static_cast<size_t>(data.label(index))];
  return {&data, index, label, of_class + "/" + fs::path(data.name(index)).filename().string()};
}

/// Of each class round(images * fraction) validate, drawn by the seed, but at least one trains.
Halves split(std::unique_ptr<Dataset> whole, double fraction, uint64_t seed) {
  Halves halves;
  halves.sets.push_back(std::move(whole));
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
Halves given(std::unique_ptr<Dataset> train, std::unique_ptr<Dataset> validation) {
  Halves halves;
  halves.sets.push_back(std::move(train));
  const Dataset& trains = *halves.sets.front();
  halves.class_names = trains.class_names();
  for (size_t i = 0; i < trains.size(); ++i) halves.train.push_back(item(trains, i, trains.label(i)));
  halves.sets.push_back(std::move(validation));
  const Dataset& data = *halves.sets.back();
  std::vector<int64_t> labels;
  for (const std::string& name : data.class_names()) {
    const auto at = std::find(halves.class_names.begin(), halves.class_names.end(), name);
    if (at == halves.class_names.end()) {
      throw Error(Exit::data, "class " + name + " of the validation half (" + data.name(0) +
                                  ", …) is none of the training half's. Put it there too, or remove it");
    }
    labels.push_back(at - halves.class_names.begin());
  }
  for (size_t i = 0; i < data.size(); ++i) {
    halves.validation.push_back(item(data, i, labels[static_cast<size_t>(data.label(i))]));
  }
  return halves;
}

ImageSets open_folder_sets(const std::string& from) {
  std::error_code ignored;
  const auto folder = [&](const char* name) {
    return fs::is_directory(from + "/" + name, ignored) ? from + "/" + name : std::string();
  };
  ImageSets sets;
  sets.named_train = !folder("train").empty();
  sets.train = open_folder(sets.named_train ? folder("train") : from);
  const std::string validation = folder("validation").empty() ? folder("val") : folder("validation");
  if (sets.named_train && !validation.empty()) sets.validation = open_folder(validation);
  return sets;
}

[[noreturn]] void refuse(const std::string& what, const std::string& to_do) {
  throw Error(Exit::usage, what + ". " + to_do);
}

class Opener {
 public:
  explicit Opener(const PrepOptions& options) : options_(options) {}

  ImageSets open(const std::string& path) const {
    std::error_code ignored;
    return fs::is_directory(path, ignored) ? open_folder_sets(path) : open_archive(path, progress_of(path));
  }

  /// `classes`: those of the training half, or none.
  std::unique_ptr<Dataset> open_labelled(const std::string& path, const std::vector<std::string>& classes) const {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      refuse("--labels is for images in an archive, and " + path + " is a folder",
             "Name the archive, or sort the images "
             "into class folders and leave --labels out");
    }
    LabelList labels = read_label_list(options_.labels);
    name_numbers(labels, options_.label_names, classes);
    return open_labelled_archive(path, labels, progress_of(path));
  }

 private:
  ArchiveProgress progress_of(const std::string& path) const {
    if (!options_.stage) return {};
    return [this, path](int64_t done, int64_t total) { options_.stage("reading " + path, done, total); };
  }

  const PrepOptions& options_;
};

void check_flags(const PrepOptions& options, const ImageSets& sets) {
  const bool apart = !options.validation_from.empty();
  if (apart && sets.validation) {
    refuse(options.from + " has a validation half already", "Leave --validation-from out");
  }
  if (options.validation.value_or(0) > 0 && (apart || sets.validation)) {
    refuse(apart ? "--validation splits what --validation-from gives apart"
                 : options.from + " has a training and a validation half already",
           apart ? "Leave one of them out" : "Leave --validation out, or name the training images alone with --from");
  }
}

}  // namespace

void shuffle(std::vector<PackItem>& items, Random random) {
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

Halves find_halves(const PrepOptions& options) {
  if (!options.label_names.empty() && options.labels.empty()) refuse("--label-names names labels", "Give --labels too");
  const Opener opener(options);
  const bool apart = !options.validation_from.empty();
  ImageSets sets;
  if (apart || options.labels.empty()) {
    sets = opener.open(options.from);
  } else {
    sets.train = opener.open_labelled(options.from, {});
  }
  check_flags(options, sets);
  if (apart && !options.labels.empty()) {
    sets.validation = opener.open_labelled(options.validation_from, sets.train->class_names());
  } else if (apart) {
    ImageSets others = opener.open(options.validation_from);
    sets.validation = others.validation ? std::move(others.validation) : std::move(others.train);
  }
  if (sets.validation && options.validation != 0.0) return given(std::move(sets.train), std::move(sets.validation));
  const double unasked = sets.named_train || sets.validation ? 0 : kDefaultValidation;
  return split(std::move(sets.train), options.validation.value_or(unasked), options.seed);
}

}  // namespace trainyard
