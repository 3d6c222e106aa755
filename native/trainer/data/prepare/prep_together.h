// `trainer prep --shards` on several ranks, which share the source and the folder that is made.
#pragma once
#include "trainer/data/prepare/prep.h"

namespace trainyard {

/// Rank 0 makes the folder and gives it its name, and every rank writes each world-th shard. The
/// shards are those that one rank writes. A rank that fails lets the others end their part; then
/// the folder is removed, and all throw: that rank its own error, the others Error(Exit::data).
/// Throws as prep; Error(Exit::data) too where the ranks do not see the same files.
PrepSummary prep_together(const PrepOptions& options);

}  // namespace trainyard
