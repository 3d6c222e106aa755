#include "agent/reports/event_scalars.h"

#include <cmath>
#include <cstring>
#include <optional>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

#include "agent/messages/json.h"

namespace trainyard {

namespace {

using protozero::data_view;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr size_t kMostTags = 10'000;

enum Event : protozero::pbf_tag_type { wall_time = 1, step = 2, summary = 5 };
enum Value : protozero::pbf_tag_type { tag = 1, simple_value = 2, tensor = 8, metadata = 9 };
enum Tensor : protozero::pbf_tag_type {
  type = 1,
  content = 4,
  floats = 5,
  doubles = 6,
  ints = 7,
  longs = 10,
  halves = 13
};
enum Type { type_float = 1, type_double = 2, type_int32 = 3, type_int64 = 9, type_bfloat16 = 14, type_half = 19 };

/// Whether the field at hand is that one, stored as it has to be: the reader itself does not look.
bool is(const pbf_reader& message, protozero::pbf_tag_type tag, pbf_wire_type type) {
  return message.tag() == tag && message.wire_type() == type;
}

double half_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  if (exponent == 0x1f) value = fraction == 0 ? HUGE_VAL : std::nan("");
  return (bits & 0x8000) != 0 ? -value : value;
}

double bfloat16_value(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

template <typename Number>
std::optional<Number> whole(data_view bytes) {
  Number value{};
  if (bytes.size() != sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::optional<double> content_value(data_view bytes, int type) {
  switch (type) {
    case type_float:
      return whole<float>(bytes);
    case type_double:
      return whole<double>(bytes);
    case type_int32:
      return whole<int32_t>(bytes);
    case type_int64:
      if (const auto value = whole<int64_t>(bytes)) return static_cast<double>(*value);
      return std::nullopt;
    case type_half:
      if (const auto bits = whole<uint16_t>(bytes)) return half_value(*bits);
      return std::nullopt;
    case type_bfloat16:
      if (const auto bits = whole<uint16_t>(bytes)) return bfloat16_value(*bits);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

/// The numbers of a repeated field, which may stand alone or packed: the only one, else nothing.
template <typename Single, typename Packed>
void take(pbf_reader& message, pbf_wire_type alone, Single&& single, Packed&& packed, std::vector<double>& numbers) {
  if (message.wire_type() == alone) {
    numbers.push_back(static_cast<double>(single()));
  } else if (message.wire_type() != pbf_wire_type::length_delimited) {
    throw FieldError("a tensor's numbers are stored as something else");
  } else {
    for (const auto value : packed()) {
      if (numbers.size() < 2) numbers.push_back(static_cast<double>(value));
    }
  }
}

std::optional<double> tensor_value(pbf_reader message) {
  int type_of = 0;
  std::optional<data_view> bytes;
  std::vector<double> numbers;
  while (message.next()) {
    switch (message.tag()) {
      case Tensor::type:
        if (!is(message, Tensor::type, pbf_wire_type::varint))
          throw FieldError("a tensor's type is stored as something else");
        type_of = message.get_enum();
        break;
      case Tensor::content:
        if (!is(message, Tensor::content, pbf_wire_type::length_delimited)) {
          throw FieldError("a tensor's bytes are stored as something else");
        }
        bytes = message.get_view();
        break;
      case Tensor::floats:
        take(
            message, pbf_wire_type::fixed32, [&] { return message.get_float(); },
            [&] { return message.get_packed_float(); }, numbers);
        break;
      case Tensor::doubles:
        take(
            message, pbf_wire_type::fixed64, [&] { return message.get_double(); },
            [&] { return message.get_packed_double(); }, numbers);
        break;
      case Tensor::ints:
      case Tensor::halves: {
        const bool is_half = message.tag() == Tensor::halves;
        std::vector<double> read;
        take(
            message, pbf_wire_type::varint, [&] { return message.get_int32(); },
            [&] { return message.get_packed_int32(); }, read);
        for (const double bits : read) {
          const auto raw = static_cast<uint16_t>(static_cast<int32_t>(bits));
          const double half = type_of == type_bfloat16 ? bfloat16_value(raw) : half_value(raw);
          numbers.push_back(is_half ? half : bits);
        }
        break;
      }
      case Tensor::longs:
        take(
            message, pbf_wire_type::varint, [&] { return message.get_int64(); },
            [&] { return message.get_packed_int64(); }, numbers);
        break;
      default:
        message.skip();
    }
  }
  if (bytes && !bytes->empty()) return content_value(*bytes, type_of);
  return numbers.size() == 1 ? std::optional(numbers.front()) : std::nullopt;
}

std::string plugin_of(pbf_reader about) {
  constexpr auto kText = pbf_wire_type::length_delimited;
  if (!about.next(1, kText)) return "";
  pbf_reader plugin = about.get_message();
  return plugin.next(1, kText) ? plugin.get_string() : "";
}

}  // namespace

std::vector<Scalar> EventScalars::read(std::string_view event) {
  std::vector<Scalar> scalars;
  double time = 0;
  int64_t at_step = 0;
  try {
    std::vector<data_view> summaries;
    pbf_reader message(event.data(), event.size());
    while (message.next()) {
      if (is(message, Event::wall_time, pbf_wire_type::fixed64)) {
        time = message.get_double();
      } else if (is(message, Event::step, pbf_wire_type::varint)) {
        at_step = message.get_int64();
      } else if (is(message, Event::summary, pbf_wire_type::length_delimited)) {
        summaries.push_back(message.get_view());
      } else {
        message.skip();
      }
    }
    for (const data_view one : summaries) {
      pbf_reader values(one);
      while (values.next(1, pbf_wire_type::length_delimited)) {
        pbf_reader value = values.get_message();
        std::string name, plugin;
        std::optional<double> simple;
        std::optional<data_view> tensor_bytes;
        while (value.next()) {
          if (is(value, Value::tag, pbf_wire_type::length_delimited)) {
            name = value.get_string();
          } else if (is(value, Value::simple_value, pbf_wire_type::fixed32)) {
            simple = value.get_float();
          } else if (is(value, Value::tensor, pbf_wire_type::length_delimited)) {
            tensor_bytes = value.get_view();
          } else if (is(value, Value::metadata, pbf_wire_type::length_delimited)) {
            plugin = plugin_of(value.get_message());
          } else {
            value.skip();
          }
        }
        if (!simple && tensor_bytes) {
          if (plugin == "scalars" && tensors_.size() < kMostTags) tensors_.insert(name);
          const bool is_scalar = plugin == "scalars" || (plugin.empty() && tensors_.contains(name));
          if (is_scalar) simple = tensor_value(pbf_reader(*tensor_bytes));
        }
        if (simple && !name.empty()) scalars.push_back({name, at_step, *simple, time});
      }
    }
  } catch (const protozero::exception& error) {
    throw FieldError(std::string("it is no message of TensorBoard: ") + error.what());
  }
  return scalars;
}

}  // namespace trainyard
