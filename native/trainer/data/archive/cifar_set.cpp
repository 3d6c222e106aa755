#include "trainer/data/archive/cifar_set.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "common/error.h"
#include "trainer/data/archive/tar_reader.h"
#include "trainer/data/images/png.h"

namespace trainyard {

namespace {

constexpr int kSide = 32;
constexpr size_t kPlane = size_t{kSide} * kSide;  // bytes of one colour
constexpr size_t kPixels = 3 * kPlane;
constexpr size_t kMostEntries = 64;  // an archive with more is another one

struct Kind {
  const char* names;               ///< a class a line
  size_t labels;                   ///< bytes before the pixels; the last one is the class
  std::vector<const char*> train;  ///< files of the training images
  const char* test;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"batches.meta.txt",
       1,
       {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
       "test_batch.bin"},
      {"fine_label_names.txt", 2, {"train.bin"}, "test.bin"},
  };
  return all;
}

[[noreturn]] void refuse(const std::string& what, const std::string& to_do) {
  throw Error(Exit::data, what + ". " + to_do);
}

using Entries = std::map<std::string, TarEntry, std::less<>>;

/// The archive's files by their names without folders; none of an archive that has many.
Entries files_of(const ArchiveBytes& bytes, const std::string& path) {
  Entries files;
  TarReader reader(bytes, path, 0, bytes.size());
  for (size_t count = 0; const auto entry = reader.next(); ++count) {
    if (count == kMostEntries) return {};
    if (entry->kind != TarEntry::Kind::file) continue;
    files.insert_or_assign(entry->path.substr(entry->path.rfind('/') + 1), *entry);
  }
  return files;
}

/// One file of images: LABELS, 1,024 red values by rows, 1,024 green ones, 1,024 blue ones, and so
/// on.
struct Records {
  std::string file;
  std::string bytes;
  size_t each = 0;  ///< bytes of a record
  size_t count() const { return bytes.size() / each; }
  int32_t label(size_t i) const { return static_cast<uint8_t>(bytes[(i + 1) * each - kPixels - 1]); }
  /// [3, 32, 32]
  const char* pixels(size_t i) const { return bytes.data() + (i + 1) * each - kPixels; }
};

class CifarSet : public Dataset {
 public:
  CifarSet(std::string archive, std::vector<Records> files, std::vector<std::string> classes)
      : archive_(std::move(archive)), files_(std::move(files)), classes_(std::move(classes)) {
    for (size_t file = 0; file < files_.size(); ++file) {
      for (size_t i = 0; i < files_[file].count(); ++i) places_.push_back({file, i, files_[file].label(i)});
    }
    std::stable_sort(places_.begin(), places_.end(), [](const auto& a, const auto& b) { return a.label < b.label; });
  }

  size_t size() const override { return places_.size(); }
  const std::vector<std::string>& class_names() const override { return classes_; }
  int32_t label(size_t index) const override { return places_[index].label; }
  std::string name(size_t index) const override {
    return archive_ + "/" + files_[places_[index].file].file + ":" + std::to_string(places_[index].record);
  }
  std::string encoded(size_t index) const override {
    const char* planes = files_[places_[index].file].pixels(places_[index].record);
    Image image;
    image.width = image.height = kSide;
    image.pixels.resize(kPixels);  // [32, 32, 3]
    for (size_t i = 0; i < kPixels; ++i) image.pixels[i] = static_cast<uint8_t>(planes[i % 3 * kPlane + i / 3]);
    return encode_png(image);
  }
  bool pixels(size_t, int, uint8_t*) const override { return false; }

 private:
  struct Place {
    size_t file;
    size_t record;
    int32_t label;
  };
  std::string archive_;
  std::vector<Records> files_;
  std::vector<std::string> classes_;
  std::vector<Place> places_;
};

class CifarReader {
 public:
  CifarReader(const ArchiveBytes& bytes, const std::string& path, const Entries& files, const Kind& kind)
      : bytes_(bytes), path_(path), files_(files), kind_(kind) {
    std::string line;
    for (const char c : read(kind.names)) {
      if (c == '\r') continue;
      if (c != '\n') {
        line += c;
      } else if (!line.empty()) {
        classes_.push_back(std::exchange(line, {}));
      }
    }
    if (!line.empty()) classes_.push_back(line);
  }

  std::unique_ptr<Dataset> set_of(const std::vector<const char*>& names) const {
    std::vector<Records> all;
    for (const char* name : names) all.push_back(records(name));
    return std::make_unique<CifarSet>(path_, std::move(all), classes_);
  }

 private:
  std::string read(const char* name) const {
    const auto found = files_.find(name);
    if (found == files_.end()) refuse(path_ + " has no file " + name + ", though it has others of CIFAR", kAnother);
    std::string text(found->second.size, '\0');
    if (bytes_.read(found->second.offset, text.data(), text.size()) != text.size()) {
      refuse(path_ + " was changed while it was read", "Start again");
    }
    return text;
  }

  Records records(const char* name) const {
    Records found{name, read(name), kind_.labels + kPixels};
    if (found.bytes.empty() || found.bytes.size() % found.each != 0) {
      refuse(std::string(name) + " in " + path_ + " has " + std::to_string(found.bytes.size()) +
                 " bytes, which are no whole number of images of " + std::to_string(found.each) + " bytes",
             kAnother);
    }
    for (size_t i = 0; i < found.count(); ++i) {
      if (static_cast<size_t>(found.label(i)) < classes_.size()) continue;
      refuse("image " + std::to_string(i) + " of " + name + " in " + path_ + " has the label " +
                 std::to_string(found.label(i)) + ", and " + kind_.names + " names " + std::to_string(classes_.size()) +
                 " classes",
             kAnother);
    }
    return found;
  }

  static constexpr const char* kAnother = "Download the archive anew";
  const ArchiveBytes& bytes_;
  const std::string& path_;
  const Entries& files_;
  const Kind& kind_;
  std::vector<std::string> classes_;
};

/// The other two versions of the same images.
void refuse_others(const Entries& files, const std::string& path) {
  const bool ten = files.contains("data_batch_1") || files.contains("data_batch_1.mat");
  const bool hundred = files.contains("train") || files.contains("train.mat");
  const bool meta = files.contains("batches.meta") || files.contains("batches.meta.mat") || files.contains("meta") ||
                    files.contains("meta.mat");
  if (!meta || !(ten || hundred)) return;
  refuse(path + " is CIFAR for Python or Matlab, whose files are not read here",
         std::string("Give ") + (ten ? "cifar-10" : "cifar-100") + "-binary.tar.gz of the same page");
}

}  // namespace

std::optional<ImageSets> open_cifar(const ArchiveBytes& bytes, const std::string& path) {
  const Entries files = files_of(bytes, path);
  refuse_others(files, path);
  for (const Kind& kind : kinds()) {
    if (!files.contains(kind.names) || !files.contains(kind.train.front())) continue;
    const CifarReader reader(bytes, path, files, kind);
    ImageSets sets;
    sets.train = reader.set_of(kind.train);
    sets.validation = reader.set_of({kind.test});
    sets.named_train = true;
    return sets;
  }
  return std::nullopt;
}

}  // namespace trainyard
