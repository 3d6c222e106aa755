#include "trainer/data/archive/listing.h"

#include <algorithm>
#include <string_view>

#include "common/error.h"
#include "trainer/data/archive/tar_reader.h"
#include "trainer/data/images/image_names.h"

namespace trainyard {

namespace {

constexpr int64_t kSayEvery = 512;  // entries

/// Without empty parts, "." and a leading slash.
std::string tidied(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (!result.empty()) result += '/';
    result += part;
  }
  return result;
}

bool has_hidden_part(std::string_view path) { return path.starts_with('.') || path.find("/.") != std::string::npos; }

bool ends_with_tar(std::string_view path) { return path.size() > 4 && path.ends_with(".tar"); }

class Lister {
 public:
  Lister(const ArchiveBytes& bytes, const ArchiveProgress& progress) : bytes_(bytes), progress_(progress) {}

  void walk(const std::string& name, const std::string& below, uint64_t begin, uint64_t end, bool inner) {
    TarReader reader(bytes_, name, begin, end);
    while (const auto entry = reader.next()) {
      if (++entries_ % kSayEvery == 0 && progress_) {
        progress_(static_cast<int64_t>(entry->offset), static_cast<int64_t>(bytes_.size()));
      }
      if (entry->kind == TarEntry::Kind::other) continue;
      const std::string path = tidied(entry->path);
      if (path.empty() || has_hidden_part(path)) continue;
      if (example_.empty()) example_ = path;
      if (is_image_name(path)) {
        images.push_back(
            {below + path, entry->offset, entry->kind == TarEntry::Kind::link ? ListedImage::kLink : entry->size});
      } else if (ends_with_tar(path) && entry->kind == TarEntry::Kind::file && !inner) {
        walk(name + ":" + path, path.substr(0, path.size() - 4) + "/", entry->offset, entry->offset + entry->size,
             true);
      }
    }
  }

  std::string nothing(const std::string& name) const {
    if (example_.empty()) return name + " is an empty archive. Give one with class folders of JPEG or PNG files";
    const char* why = example_.ends_with(".xml") ? " (bounding boxes, perhaps, which --boxes takes)" : "";
    return name + " holds no image (.jpg, .jpeg or .png), but files like " + example_ + why +
           ". Give an archive with class folders of JPEG or PNG files";
  }

  std::vector<ListedImage> images;

 private:
  const ArchiveBytes& bytes_;
  const ArchiveProgress& progress_;
  int64_t entries_ = 0;
  std::string example_;
};

}  // namespace

std::vector<ListedImage> list_images(const ArchiveBytes& bytes, const std::string& name,
                                     const ArchiveProgress& progress) {
  Lister lister(bytes, progress);
  lister.walk(name, "", 0, bytes.size(), false);
  if (lister.images.empty()) throw Error(Exit::data, lister.nothing(name));
  auto& images = lister.images;
  std::stable_sort(images.begin(), images.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  // Of equal paths the last one stays.
  size_t kept = 0;
  for (size_t i = 0; i < images.size(); ++i) {
    if (i + 1 < images.size() && images[i + 1].path == images[i].path) continue;
    if (kept != i) images[kept] = std::move(images[i]);
    ++kept;
  }
  images.resize(kept);
  return std::move(lister.images);
}

}  // namespace trainyard
