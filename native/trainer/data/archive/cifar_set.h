// CIFAR-10 and CIFAR-100 in their binary version, as https://www.cs.toronto.edu/~kriz/cifar.html
// describes it.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "trainer/data/archive/archive_bytes.h"
#include "trainer/data/archive/archive_set.h"

namespace trainyard {

/// The training and the test images of `bytes`, where it is cifar-10-binary or cifar-100-binary;
/// else nothing. Images are 32x32 PNG files, class by class, in the archive's order within a class.
/// Classes have the archive's names and numbers, of CIFAR-100 the 100 fine ones. The test images
/// are the validation half. All pixels are kept in memory: 185 MB. Throws Error(Exit::data): a file
/// is missing, has part of an image, or a label without a name; the archive is CIFAR's version for
/// Python or Matlab.
std::optional<ImageSets> open_cifar(const ArchiveBytes& bytes, const std::string& path);

}  // namespace trainyard
