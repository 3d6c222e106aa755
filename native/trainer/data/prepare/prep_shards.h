// `trainer prep --shards`: class folders, of a folder or an archive, into TFRecord shards.
#pragma once
#include <functional>
#include <string>

#include "trainer/data/prepare/partial_folder.h"
#include "trainer/data/prepare/prep.h"

namespace trainyard {

/// Packs options.from (prep_halves.h) as folder/train-00000-of-0000N and folder/validation-…, with
/// labels.txt ("0:daisy" lines) beside them. Of several ranks each writes its part of the shards, its
/// summary is of that part, and rank 0 writes the labels. Throws as prep.
/// `on_shard` is PackOptions'.
PrepSummary prep_shards(const PrepOptions& options, const PartialFolder& folder,
                        const std::function<void(const std::string& path)>& on_shard = {});

}  // namespace trainyard
