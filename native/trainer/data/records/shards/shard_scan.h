// One walk through a shard, from record to record, that reads little more of each than what it says
// of itself.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "trainer/data/boxes.h"
#include "trainer/data/records/byte_source.h"

namespace trainyard {

constexpr uint64_t kLongestRecord = uint64_t{256} << 20;  ///< bytes of data; an image has a fraction of them

struct ScannedRecord {
  uint64_t offset = 0;  ///< of its header, in the shard
  uint64_t length = 0;  ///< of its data; 0 where it is not known or not to be believed
  uint64_t lost = 0;    ///< bytes from its header on that are passed over, as its length is damaged; else 0
  int64_t label = 0;
  Range text;           ///< the class's name, in the shard; empty where there is none
  std::string problem;  ///< why it cannot be used; empty for one that can
};

class ShardScan {
 public:
  /// Begins at the record at `offset`. `path` is for messages; the descriptor stays the caller's.
  ShardScan(int fd, const std::string& path, uint64_t size, uint64_t offset = 0);

  /// The next record, or nothing at the end. A record that is cut short is the last; behind one
  /// whose length is damaged the walk goes on at the next sound record. Checks the sum of the
  /// length, and that of the data only where the data make no sense.
  /// Throws file_error.
  std::optional<ScannedRecord> next();

  /// Whether the sum of a record's data holds, read piece by piece. Throws file_error.
  bool is_sound(const ScannedRecord& record) const;

  std::string text(const ScannedRecord& record);
  /// The bounding boxes of a record that can be used. Where they cannot be read it has a problem
  /// then, and no boxes. Throws file_error.
  std::vector<Box> boxes(ScannedRecord& record);
  uint64_t position() const { return at_; }

 private:
  void read_fields(ScannedRecord& record);

  int fd_;
  std::string path_;
  uint64_t size_;
  uint64_t at_;
  FileBytes bytes_;
};

/// Whether the data of `length` bytes of the record at `offset` match their sum; they are read
/// piece by piece. `path` is for messages. Throws file_error.
bool has_sound_data(int fd, const std::string& path, uint64_t offset, uint64_t length);

extern const char* const kDamagedData;  ///< the problem of a record whose data do not match their sum

}  // namespace trainyard
