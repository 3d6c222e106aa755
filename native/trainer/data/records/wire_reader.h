// Protocol buffers' wire format (protobuf.dev/programming-guides/encoding), read strictly and
// without ever following a length that leads out of its message.
#pragma once
#include "trainer/data/records/byte_source.h"

namespace trainyard {

/// The fields of one message, one after the other. Every function throws BadImage for bytes that
/// are no such message.
class WireReader {
 public:
  enum class Type : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  WireReader(ByteSource& source, Range message) : source_(source), at_(message.begin), end_(message.end) {}

  /// Goes to the next field, whatever was read of this one; false at the message's end.
  bool next();
  uint64_t field() const { return field_; }
  Type type() const { return type_; }
  bool is(uint64_t field, Type type) const { return field_ == field && type_ == type; }
  /// Where the value of a field of type `bytes` lies.
  Range range() const { return value_; }
  /// The value of a field of type `varint`.
  uint64_t number() const { return number_; }

 private:
  uint64_t read_varint();

  ByteSource& source_;
  uint64_t at_;
  uint64_t end_;
  uint64_t field_ = 0;
  Type type_ = Type::varint;
  Range value_;
  uint64_t number_ = 0;
};

/// The varints of a packed list, in turn.
class PackedReader {
 public:
  PackedReader(ByteSource& source, Range list) : source_(source), list_(list) {}
  /// False at the list's end. Throws BadImage.
  bool next(uint64_t& value);

 private:
  ByteSource& source_;
  Range list_;
};

}  // namespace trainyard
