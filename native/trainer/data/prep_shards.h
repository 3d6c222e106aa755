// `trainer prep --shards`: class folders into TFRecord shards.
#pragma once
#include <string>

#include "trainer/data/partial_folder.h"
#include "trainer/data/prep.h"

namespace trainyard {

/// Packs `from`, a folder of class folders or one that has them in train and validation (or val), as
/// folder/train-00000-of-0000N and folder/validation-…, with labels.txt ("0:daisy" lines) beside them. Throws as prep.
PrepSummary prep_shards(const std::string& from, const PrepOptions& options, const PartialFolder& folder);

}  // namespace trainyard
