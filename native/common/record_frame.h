// TFRecord framing: length, masked CRC of the length, data, masked CRC of the data, all
// little-endian (tensorflow/core/lib/io/record_writer.cc).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

constexpr size_t kRecordHeader = 12;  ///< bytes ahead of the data: length and its CRC
constexpr size_t kRecordFooter = 4;   ///< bytes after them: their CRC

/// The bytes of one record.
std::string framed_record(std::string_view data);

/// The length of the data that follow `header` (kRecordHeader bytes), or nothing where its CRC says
/// that it is damaged.
std::optional<uint64_t> record_length(std::string_view header);

/// Whether `footer` (kRecordFooter bytes) is the footer of data with the CRC-32C `crc`.
bool is_footer_of(std::string_view footer, uint32_t crc);

}  // namespace trainyard
