// An archive as data sets.
#pragma once
#include <memory>
#include <string>

#include "trainer/data/archive/archive_bytes.h"
#include "trainer/data/archive/label_list.h"
#include "trainer/data/source.h"

namespace trainyard {

/// What a source of images holds: one set, or two halves that stand apart.
struct ImageSets {
  std::unique_ptr<Dataset> train;
  std::unique_ptr<Dataset> validation;  ///< may be missing
  bool named_train = false;             ///< the source says by name that `train` is for training
};

/// Class folders in `path`, a tar, compressed with gzip or not, whose images are read where they
/// lie. Classes and images are in the order that open_folder gives them. CIFAR's archives are read
/// as open_cifar says. Throws Error(Exit::data) as open_archive_bytes, open_cifar, list_images and
/// find_roots do.
ImageSets open_archive(const std::string& path, const ArchiveProgress& progress);

/// All images of an archive, whatever their folders, in the order of their names, with their labels
/// from a list. Throws Error(Exit::data) too where the list has another number of lines, or names
/// another image.
std::unique_ptr<Dataset> open_labelled_archive(const std::string& path, const LabelList& labels,
                                               const ArchiveProgress& progress);

}  // namespace trainyard
