#include "trainer/data/records/next_record.h"

#include <algorithm>

#include "common/record_frame.h"
#include "trainer/data/records/byte_source.h"
#include "trainer/data/records/shards/shard_scan.h"

namespace trainyard {

namespace {
constexpr uint64_t kPiece = uint64_t{1} << 20;
constexpr uint64_t kMostReadings = 4;  // of the whole shard: no file can make the search quadratic
}  // namespace

uint64_t next_sound_record(int fd, const std::string& path, uint64_t size, uint64_t from) {
  constexpr uint64_t frame = kRecordHeader + kRecordFooter;
  std::string piece;
  uint64_t compared = 0;
  for (uint64_t begin = from; begin + frame <= size; begin += kPiece) {
    piece.resize(static_cast<size_t>(std::min(kPiece + kRecordHeader - 1, size - begin)));
    piece.resize(read_at(fd, begin, piece.data(), piece.size(), path));
    for (size_t at = 0; at + kRecordHeader <= piece.size(); ++at) {
      const auto length = record_length(std::string_view(piece).substr(at, kRecordHeader));
      const uint64_t offset = begin + at;
      if (!length || *length > kLongestRecord || offset + frame > size || *length > size - offset - frame) continue;
      compared += *length;
      if (compared > kMostReadings * size) return size;
      if (has_sound_data(fd, path, offset, *length)) return offset;
    }
  }
  return size;
}

}  // namespace trainyard
