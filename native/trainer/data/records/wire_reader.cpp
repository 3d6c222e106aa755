#include "trainer/data/records/wire_reader.h"

#include "trainer/data/images/image.h"

namespace trainyard {

namespace {

constexpr size_t kLongestVarint = 10;
constexpr uint64_t kHighestField = (uint64_t{1} << 29) - 1;

/// Moves `at` behind the varint that begins there and ends before `end`.
uint64_t varint_at(ByteSource& source, uint64_t& at, uint64_t end) {
  const auto most = static_cast<size_t>(std::min<uint64_t>(end - at, kLongestVarint));
  const std::string_view bytes = source.look(at, most);
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if (i + 1 == kLongestVarint && byte > 1) break;  // more than 64 bits
    value |= uint64_t{byte & 0x7fU} << (7 * i);
    if ((byte & 0x80U) != 0) continue;
    at += i + 1;
    return value;
  }
  throw BadImage("the record is no tf.train.Example: a number in it does not end");
}

}  // namespace

uint64_t WireReader::read_varint() { return varint_at(source_, at_, end_); }

bool WireReader::next() {
  if (at_ == end_) return false;
  const uint64_t tag = read_varint();
  field_ = tag >> 3;
  if (field_ == 0 || field_ > kHighestField) {
    throw BadImage("the record is no tf.train.Example: it has a field of no valid number");
  }
  uint64_t size = 0;
  switch (tag & 7) {
    case 0:
      type_ = Type::varint;
      number_ = read_varint();
      break;
    case 1:
      type_ = Type::fixed64;
      size = 8;
      break;
    case 2:
      type_ = Type::bytes;
      size = read_varint();
      break;
    case 5:
      type_ = Type::fixed32;
      size = 4;
      break;
    default:
      throw BadImage("the record is no tf.train.Example: it has a field of no known type");
  }
  if (size > end_ - at_) throw BadImage("the record is no tf.train.Example: a field reaches over its end");
  value_ = {at_, at_ + size};
  at_ += size;
  return true;
}

bool PackedReader::next(uint64_t& value) {
  if (list_.begin == list_.end) return false;
  value = varint_at(source_, list_.begin, list_.end);
  return true;
}

}  // namespace trainyard
