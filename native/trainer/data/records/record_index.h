// Where every record of a data set lies and what its label is, in 16 bytes each, so that a million
// take 16 MB; bounding boxes, where they are asked for, as BoxLists has them.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "trainer/data/boxes.h"
#include "trainer/data/records/shards/shard_files.h"

namespace trainyard {

struct RecordEntry {
  static constexpr int32_t kNoLabel = INT32_MIN;  ///< of a record that cannot be used

  uint64_t offset;
  uint32_t length;
  int32_t label;  ///< as it stands in the record
};
static_assert(sizeof(RecordEntry) == 16);

/// The first sound record of a class.
struct FirstOfClass {
  size_t shard = 0;
  std::string where;  ///< for messages: "PATH at byte N"
  std::string text;   ///< its image/class/text, may be empty
};

/// Bytes of a shard that no record could be read from, as a length is damaged.
struct LostBytes {
  std::string where;  ///< "PATH at byte N"
  uint64_t bytes = 0;
  int64_t records = 0;  ///< that lay there, by the mean length of the sound ones; at least 1
  bool to_end = false;  ///< of the shard
};

struct RecordIndex {
  std::vector<std::vector<RecordEntry>> shards;  ///< in the order of the paths
  std::vector<BoxLists> boxes;                   ///< likewise, of each record; empty where nobody asked
  std::map<int64_t, FirstOfClass> classes;       ///< by label, as it stands in the records
  std::vector<LostBytes> lost;                   ///< in the order of the shards
  std::string first_problem;                     ///< "PATH at byte N: why", of the first record that cannot be used
};

constexpr int64_t kMostClasses = 100'000;

/// "PATH at byte N".
std::string record_name(const std::string& path, uint64_t offset);

/// Walks through all shards on several threads. Of a record nearly only the label is read; its
/// data's checksum is looked at where the record says something new, which a damaged one would: a
/// label not met before. progress: called now and then from the calling thread with the bytes of
/// files walked over and those there are. with_boxes: a record whose boxes cannot be read cannot be
/// used. Throws Error(Exit::data): a shard cannot be read, more
/// than kMostClasses labels, a label that fits no class.
RecordIndex index_records(const ShardFiles& files, const std::function<void(int64_t done, int64_t total)>& progress,
                          bool with_boxes = false);

}  // namespace trainyard
