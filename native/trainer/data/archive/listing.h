// The images in an archive, and which class and half each belongs to by its path.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/data/archive/archive_bytes.h"

namespace trainyard {

struct ListedImage {
  static constexpr uint64_t kLink = UINT64_MAX;  ///< for size: a link, which has no bytes of its own
  std::string path;                              ///< without "./" at its begin; of one in an inner tar INNER/NAME
  uint64_t offset = 0;
  uint64_t size = 0;
};

/// All that have an image's name (.jpg, .jpeg, .png, any case; hidden ones are left out), also
/// those in tars that lie in it uncompressed, as ImageNet's training images do: those of
/// n01440764.tar are n01440764/NAME. Sorted by path bytes; of two with the same path the later one
/// counts, as tar has it. Throws Error(Exit::data) as TarReader, and where there is no image,
/// saying what there is instead.
std::vector<ListedImage> list_images(const ArchiveBytes& bytes, const std::string& name,
                                     const ArchiveProgress& progress);

}  // namespace trainyard
