#include "trainer/tfevents/record_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "common/error.h"
#include "trainer/base/crc32c.h"

namespace trainyard {

namespace {

constexpr size_t flush_at = size_t{1} << 18;

template <typename Number>
std::string little_endian(Number value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof value; ++i) bytes.push_back(static_cast<char>((value >> (8 * i)) & 0xffU));
  return bytes;
}

}  // namespace

std::string framed_record(std::string_view data) {
  std::string record = little_endian(static_cast<uint64_t>(data.size()));
  record += little_endian(mask_crc(crc32c(record)));
  record += data;
  record += little_endian(mask_crc(crc32c(data)));
  return record;
}

void RecordFile::append(std::string_view data) {
  kept_ += framed_record(data);
  if (kept_.size() >= flush_at) flush();
}

void RecordFile::flush() {
  if (kept_.empty()) return;
  try {
    write_all(fd_.get(), kept_, path_);
  } catch (const Error&) {
    if (::ftruncate(fd_.get(), whole_) == 0) ::lseek(fd_.get(), whole_, SEEK_SET);
    throw;
  }
  whole_ += static_cast<off_t>(kept_.size());
  kept_.clear();
}

}  // namespace trainyard
