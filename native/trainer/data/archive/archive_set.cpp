#include "trainer/data/archive/archive_set.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/error.h"
#include "trainer/data/archive/cifar_set.h"
#include "trainer/data/archive/layout.h"
#include "trainer/data/archive/listing.h"
#include "trainer/data/images/image.h"

namespace trainyard {

namespace {

constexpr uint64_t kLargestImage = uint64_t{1} << 30;  // a file; what pixels it may have is said elsewhere

struct LabelledImage {
  ListedImage image;
  int32_t label;
};

class ArchiveSet : public Dataset {
 public:
  ArchiveSet(std::shared_ptr<const ArchiveBytes> bytes, std::string archive, std::vector<LabelledImage> images,
             std::vector<std::string> classes)
      : bytes_(std::move(bytes)),
        archive_(std::move(archive)),
        images_(std::move(images)),
        classes_(std::move(classes)) {}

  size_t size() const override { return images_.size(); }
  const std::vector<std::string>& class_names() const override { return classes_; }
  int32_t label(size_t index) const override { return images_[index].label; }
  std::string name(size_t index) const override { return archive_ + "/" + images_[index].image.path; }
  std::string encoded(size_t index) const override {
    const ListedImage& image = images_[index].image;
    if (image.size == ListedImage::kLink) throw BadImage("it is a link in the archive");
    if (image.size > kLargestImage) throw BadImage("it has more than 1 GiB");
    std::string file(static_cast<size_t>(image.size), '\0');
    if (bytes_->read(image.offset, file.data(), file.size()) != file.size()) {
      throw BadImage("the archive was changed while it was in use");
    }
    return file;
  }
  bool pixels(size_t, int, uint8_t*) const override { return false; }

 private:
  std::shared_ptr<const ArchiveBytes> bytes_;
  std::string archive_;
  std::vector<LabelledImage> images_;
  std::vector<std::string> classes_;
};

/// Those of one root, by class and name, as a folder has them, moved out of `all`: of a large
/// archive they are many.
std::unique_ptr<Dataset> set_of(std::shared_ptr<const ArchiveBytes> bytes, const std::string& archive,
                                std::vector<ListedImage>& all, const std::string& root) {
  std::map<std::string, std::vector<ListedImage*>, std::less<>> by_class;
  for (ListedImage& image : all) {
    const ImagePlace place = place_of(image.path);
    if (place.flat || place.root != root) continue;
    by_class[std::string(place.of_class)].push_back(&image);  // paths are sorted, and so names within a class
  }
  std::vector<LabelledImage> images;
  std::vector<std::string> classes;
  for (const auto& [name, files] : by_class) {
    for (ListedImage* file : files) images.push_back({std::move(*file), static_cast<int32_t>(classes.size())});
    classes.push_back(name);
  }
  return std::make_unique<ArchiveSet>(std::move(bytes), archive, std::move(images), std::move(classes));
}

[[noreturn]] void refuse(const std::string& what, const std::string& to_do) {
  throw Error(Exit::data, what + ". " + to_do);
}

bool names_image(const std::string& wanted, std::string_view file) {
  const std::string_view listed = place_of(wanted).file;
  return listed == file || listed == file.substr(0, file.rfind('.'));
}

}  // namespace

ImageSets open_archive(const std::string& path, const ArchiveProgress& progress) {
  const std::shared_ptr<const ArchiveBytes> bytes = open_archive_bytes(path, progress);
  if (std::optional<ImageSets> cifar = open_cifar(*bytes, path)) return std::move(*cifar);
  std::vector<ListedImage> images = list_images(*bytes, path, progress);
  const ArchiveRoots roots = find_roots(images, path);
  ImageSets sets;
  sets.train = set_of(bytes, path, images, roots.train);
  if (roots.validation) sets.validation = set_of(bytes, path, images, *roots.validation);
  sets.named_train = roots.named_train;
  return sets;
}

std::unique_ptr<Dataset> open_labelled_archive(const std::string& path, const LabelList& labels,
                                               const ArchiveProgress& progress) {
  std::shared_ptr<const ArchiveBytes> bytes = open_archive_bytes(path, progress);
  std::vector<ListedImage> listed = list_images(*bytes, path, progress);
  if (listed.size() != labels.lines.size()) {
    refuse(labels.path + " has " + std::to_string(labels.lines.size()) + " labels for the " +
               std::to_string(listed.size()) + " images in " + path,
           "Give the list that belongs to these images, a line for each");
  }
  std::stable_sort(listed.begin(), listed.end(),
                   [](const auto& a, const auto& b) { return place_of(a.path).file < place_of(b.path).file; });
  const std::vector<std::string> classes = classes_of(labels);
  std::map<std::string, int32_t> numbers;
  for (const std::string& name : classes) numbers.emplace(name, static_cast<int32_t>(numbers.size()));
  std::vector<LabelledImage> images;
  for (size_t i = 0; i < listed.size(); ++i) {
    const LabelList::Line& line = labels.lines[i];
    if (!line.image.empty() && !names_image(line.image, place_of(listed[i].path).file)) {
      refuse("line " + std::to_string(i + 1) + " of " + labels.path + " names " + line.image + ", but image " +
                 std::to_string(i + 1) + " of " + path + " is " + listed[i].path,
             "Sort the lines by the images' names, or give the list that belongs to these images");
    }
    images.push_back({std::move(listed[i]), numbers.at(line.label)});
  }
  // By class, as everywhere; within one they keep the order of their names.
  std::stable_sort(images.begin(), images.end(), [](const auto& a, const auto& b) { return a.label < b.label; });
  return std::make_unique<ArchiveSet>(std::move(bytes), path, std::move(images), classes);
}

}  // namespace trainyard
