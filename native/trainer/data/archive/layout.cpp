#include "trainer/data/archive/layout.h"

#include <algorithm>
#include <map>

#include "common/error.h"

namespace trainyard {

namespace {

using Counts = std::map<std::string, size_t, std::less<>>;

std::string join(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : std::string(folder) + "/" + std::string(name);
}

std::optional<ArchiveRoots> halves_in(const Counts& counts) {
  for (const auto& [root, images] : counts) {
    const size_t slash = root.rfind('/');
    if (root.substr(slash == std::string::npos ? 0 : slash + 1) != "train") continue;
    const std::string above = slash == std::string::npos ? "" : root.substr(0, slash);
    ArchiveRoots roots{root, std::nullopt, true};
    for (const char* name : {"validation", "val"}) {
      if (!roots.validation && counts.contains(join(above, name))) roots.validation = join(above, name);
    }
    return roots;
  }
  return std::nullopt;
}

[[noreturn]] void refuse_places(const std::string& archive, std::string_view one, std::string_view other) {
  const auto shown = [](std::string_view root) { return root.empty() ? "the top" : std::string(root); };
  throw Error(Exit::data, archive + " has class folders in several places: in " + shown(one) + " and in " +
                              shown(other) + ". Give one with all of them in one folder, or in train and validation");
}

}  // namespace

ImagePlace place_of(std::string_view path) {
  ImagePlace place;
  const size_t slash = path.rfind('/');
  place.flat = slash == std::string_view::npos;
  place.file = place.flat ? path : path.substr(slash + 1);
  if (place.flat) return place;
  const std::string_view folder = path.substr(0, slash);
  const size_t above = folder.rfind('/');
  place.of_class = above == std::string_view::npos ? folder : folder.substr(above + 1);
  place.root = above == std::string_view::npos ? std::string_view() : folder.substr(0, above);
  return place;
}

ArchiveRoots find_roots(const std::vector<ListedImage>& images, const std::string& archive) {
  Counts counts;
  for (const ListedImage& image : images) {
    const ImagePlace place = place_of(image.path);
    if (place.flat) continue;
    const auto found = counts.find(place.root);
    if (found == counts.end()) {
      counts.emplace(place.root, 1);
    } else {
      ++found->second;
    }
  }
  if (counts.empty()) {
    throw Error(Exit::data, archive +
                                " has its images in no class folders. Give --labels FILE with the label of each, " +
                                "a line in the order of their names, or an archive with class folders");
  }
  if (const auto halves = halves_in(counts)) {
    for (const auto& [root, count] : counts) {
      for (const std::string& half : {halves->train, halves->validation.value_or(halves->train)}) {
        if (root.starts_with(half + "/")) refuse_places(archive, half, root);
      }
    }
    return *halves;
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const ListedImage& image : images) {
    const ImagePlace place = place_of(image.path);
    const bool beside = place.flat || join(place.root, place.of_class) == most->first;
    if (!beside && place.root != most->first) refuse_places(archive, most->first, place.root);
  }
  return {most->first, std::nullopt, false};
}

}  // namespace trainyard
