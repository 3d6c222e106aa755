// Where an archive has its class folders.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/data/archive/listing.h"

namespace trainyard {

/// A path taken apart: ROOT/CLASS/FILE.
struct ImagePlace {
  std::string_view root;  ///< empty where the class folders lie at the top
  std::string_view of_class;
  std::string_view file;
  bool flat = false;  ///< there is no folder at all
};

ImagePlace place_of(std::string_view path);

struct ArchiveRoots {
  std::string train;
  std::optional<std::string> validation;
  bool named_train = false;  ///< `train` is a folder of that name, so that nothing is to be split off it unasked
};

/// The one folder that has all class folders, or one that has them in train and validation (or
/// val). An image beside the class folders is no part of it, as in a folder. Throws
/// Error(Exit::data) where there is no class folder, or where they lie in several places (two are
/// named).
ArchiveRoots find_roots(const std::vector<ListedImage>& images, const std::string& archive);

}  // namespace trainyard
