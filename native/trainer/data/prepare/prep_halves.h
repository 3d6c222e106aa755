// What `trainer prep --shards` packs: the images of a source in two halves.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "trainer/base/random.h"
#include "trainer/data/prepare/prep.h"
#include "trainer/data/records/pack.h"

namespace trainyard {

/// The two halves of a data set, and what they are made of.
struct Halves {
  std::vector<std::unique_ptr<Dataset>> sets;
  std::vector<std::string> class_names;
  std::vector<PackItem> train;
  std::vector<PackItem> validation;
};

/// From options.from, a folder or an archive on this machine, with options.validation_from if that
/// is given. Throws Error(Exit::usage): a fraction where the halves stand apart already, labels
/// that belong to nothing. Throws Error(Exit::data): as open_folder, open_archive, read_label_list
/// and name_numbers do; a class that is only in the validation half.
Halves find_halves(const PrepOptions& options);

void shuffle(std::vector<PackItem>& items, Random random);

}  // namespace trainyard
