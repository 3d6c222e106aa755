#include "agent/reports/event_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/messages/json.h"
#include "common/files.h"
#include "common/hash/crc32c.h"
#include "common/record_frame.h"

namespace trainyard {

namespace {

constexpr uint64_t kLongestRecord = 1 << 20;            // that is looked into
constexpr uint64_t kLongestLength = uint64_t{1} << 31;  // of a message of protobuf
constexpr size_t kChunk = (1 << 20) + kRecordHeader + kRecordFooter;

std::string bytes_at(int fd, uint64_t offset, size_t count) {
  std::string bytes(count, '\0');
  size_t have = 0;
  while (have < count) {
    const ssize_t got = ::pread(fd, bytes.data() + have, count - have, static_cast<off_t>(offset + have));
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace

EventFile::Read EventFile::read() {
  Read result;
  if (damage_) return result;
  const Descriptor fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return result;
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size < offset_) {  // it was written anew
    offset_ = 0;
    scalars_ = EventScalars();
  }
  if (size - offset_ < kRecordHeader) return result;
  const std::string chunk = bytes_at(fd.get(), offset_, kChunk);
  std::string_view rest = chunk;
  while (rest.size() >= kRecordHeader) {
    const std::string_view header = rest.substr(0, kRecordHeader);
    if (header.find_first_not_of('\0') == std::string_view::npos) return result;  // a hole, not filled yet
    const auto length = record_length(header);
    if (!length || *length > kLongestLength) {
      damage_ = "the record at byte " + std::to_string(offset_) + " has a damaged length";
      return result;
    }
    const uint64_t all = kRecordHeader + *length + kRecordFooter;
    if (size - offset_ < all) return result;
    if (*length > kLongestRecord) {
      offset_ += all;
      result.more = true;
      return result;
    }
    if (rest.size() < all) {
      result.more = rest.size() != chunk.size();  // else the file became shorter meanwhile
      return result;
    }
    const std::string_view data = rest.substr(kRecordHeader, *length);
    if (!is_footer_of(rest.substr(kRecordHeader + *length, kRecordFooter), crc32c(data))) {
      damage_ = "the record at byte " + std::to_string(offset_) + " is damaged";
      return result;
    }
    try {
      for (Scalar& scalar : scalars_.read(data)) result.scalars.push_back(std::move(scalar));
    } catch (const FieldError& error) {
      damage_ = "the record at byte " + std::to_string(offset_) + " cannot be read: " + error.what();
      return result;
    }
    offset_ += all;
    rest.remove_prefix(all);
  }
  result.more = size > offset_ && chunk.size() == kChunk;
  return result;
}

}  // namespace trainyard
