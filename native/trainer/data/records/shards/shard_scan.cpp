#include "trainer/data/records/shards/shard_scan.h"

#include <algorithm>
#include <vector>

#include "common/hash/crc32c.h"
#include "common/record_frame.h"
#include "trainer/data/images/image.h"
#include "trainer/data/records/example.h"
#include "trainer/data/records/next_record.h"

namespace trainyard {

const char* const kDamagedData = "the record is damaged: the checksum of its data is wrong";

namespace {
constexpr size_t kPiece = 65536;
constexpr uint64_t kLongestText = 1024;
}  // namespace

ShardScan::ShardScan(int fd, const std::string& path, uint64_t size, uint64_t offset)
    : fd_(fd), path_(path), size_(size), at_(offset), bytes_(fd, path) {}

std::optional<ScannedRecord> ShardScan::next() {
  if (at_ >= size_) return std::nullopt;
  ScannedRecord record;
  record.offset = at_;
  const auto header = bytes_.look(at_, kRecordHeader);
  const auto length = record_length(header);
  const uint64_t left = size_ - at_;
  at_ = size_;
  if (header.size() < kRecordHeader) {
    record.problem = "the shard ends within a record: it was cut short";
  } else if (!length) {
    at_ = next_sound_record(fd_, path_, size_, record.offset + 1);
    record.lost = at_ - record.offset;
    record.problem = "the record is damaged: the checksum of its length is wrong, so " + std::to_string(record.lost) +
                     " bytes are lost, " +
                     (at_ < size_ ? "up to the next sound record at byte " + std::to_string(at_)
                                  : "all up to the end of the shard, as no sound record follows");
  } else if (left < kRecordHeader + kRecordFooter || *length > left - kRecordHeader - kRecordFooter) {
    record.problem = "the shard ends within a record of " + std::to_string(*length) + " bytes: it was cut short";
  } else {
    at_ = record.offset + kRecordHeader + *length + kRecordFooter;
    if (*length > kLongestRecord) {
      record.problem = "the record has " + std::to_string(*length) + " bytes, more than any image";
    } else {
      record.length = *length;
      read_fields(record);
    }
  }
  return record;
}

void ShardScan::read_fields(ScannedRecord& record) {
  const uint64_t begin = record.offset + kRecordHeader;
  const Range data{begin, begin + record.length};
  try {
    const ExampleFields fields = read_example(bytes_, data);
    record.label = fields.label.value_or(0);
    record.text = fields.text.value_or(Range{});
    if (!fields.label || !fields.image) {
      record.problem = std::string("the record has no ") +
                       (fields.label ? "bytes image/encoded" : "whole number image/class/label") +
                       "; its features are: " + feature_names(bytes_, data);
    }
  } catch (const BadImage& error) {
    record.problem = error.what();
  }
  if (!record.problem.empty() && !is_sound(record)) record.problem = kDamagedData;
}

std::vector<Box> ShardScan::boxes(ScannedRecord& record) {
  if (!record.problem.empty()) return {};
  const uint64_t begin = record.offset + kRecordHeader;
  try {
    return read_example_boxes(bytes_, {begin, begin + record.length});
  } catch (const BadImage& error) {
    record.problem = is_sound(record) ? error.what() : kDamagedData;
    return {};
  }
}

bool ShardScan::is_sound(const ScannedRecord& record) const {
  return has_sound_data(fd_, path_, record.offset, record.length);
}

bool has_sound_data(int fd, const std::string& path, uint64_t offset, uint64_t length) {
  std::vector<char> piece(static_cast<size_t>(std::min<uint64_t>(length + kRecordFooter, kPiece)));
  uint64_t at = offset + kRecordHeader;
  const uint64_t end = at + length;
  uint32_t crc = 0;
  while (at < end) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(end - at, piece.size()));
    if (read_at(fd, at, piece.data(), count, path) != count) return false;
    crc = crc32c({piece.data(), count}, crc);
    at += count;
  }
  if (read_at(fd, end, piece.data(), kRecordFooter, path) != kRecordFooter) return false;
  return is_footer_of({piece.data(), kRecordFooter}, crc);
}

std::string ShardScan::text(const ScannedRecord& record) {
  const auto count = static_cast<size_t>(std::min(record.text.size(), kLongestText));
  return std::string(bytes_.look(record.text.begin, count));
}

}  // namespace trainyard
