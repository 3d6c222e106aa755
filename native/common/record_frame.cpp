#include "common/record_frame.h"

#include "common/hash/crc32c.h"

namespace trainyard {

namespace {

template <typename Number>
std::string little_endian(Number value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof value; ++i) bytes.push_back(static_cast<char>((value >> (8 * i)) & 0xffU));
  return bytes;
}

template <typename Number>
Number from_little_endian(std::string_view bytes) {
  Number value = 0;
  for (size_t i = 0; i < sizeof value; ++i) value |= Number{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return value;
}

}  // namespace

std::string framed_record(std::string_view data) {
  std::string record = little_endian(static_cast<uint64_t>(data.size()));
  record += little_endian(mask_crc(crc32c(record)));
  record += data;
  record += little_endian(mask_crc(crc32c(data)));
  return record;
}

std::optional<uint64_t> record_length(std::string_view header) {
  if (header.size() != kRecordHeader) return std::nullopt;
  const std::string_view length = header.substr(0, sizeof(uint64_t));
  if (from_little_endian<uint32_t>(header.substr(sizeof(uint64_t))) != mask_crc(crc32c(length))) return std::nullopt;
  return from_little_endian<uint64_t>(length);
}

bool is_footer_of(std::string_view footer, uint32_t crc) {
  return footer.size() == kRecordFooter && from_little_endian<uint32_t>(footer) == mask_crc(crc);
}

}  // namespace trainyard
