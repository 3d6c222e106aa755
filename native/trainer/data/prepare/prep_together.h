// `trainer prep --shards` on several ranks, which share the source and what is made; and into a
// bucket of S3, on one rank too.
#pragma once
#include "trainer/data/prepare/prep.h"

namespace trainyard {

/// Rank 0 makes the folder and gives it its name, and every rank writes each world-th shard. The
/// shards are those that one rank writes. A rank that fails lets the others end their part; then
/// the folder is removed, and all throw: that rank its own error, the others Error(Exit::data).
/// Into a bucket each rank puts its shards as soon as they are whole, from a folder below TMPDIR, and
/// rank 0 puts labels.txt there last: a bucket without it holds nothing whole, and is written over.
/// Throws as prep and upload; Error(Exit::data) too where the ranks do not see the same files;
/// Error(Exit::usage) where the bucket has labels.txt already.
PrepSummary prep_together(const PrepOptions& options);

}  // namespace trainyard
