#include "trainer/checkpoint/safetensors_header.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "common/error.h"

namespace trainyard {

namespace {

using nlohmann::json;
using Entry = LoadedTensors::Entry;

Error malformed(const std::string& path, const std::string& why) {
  return Error(Exit::data, path + " is not a well-formed safetensors file: " + why + ". Use an undamaged copy");
}

// A name out of the file, cut and cleaned for a one-line message.
std::string shown(const std::string& name) {
  std::string text = name.substr(0, 80);
  std::replace_if(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, '?');
  return "'" + text + "'";
}

// Takes the parser's events, so that nothing is built of a header but its entries: {name: {dtype,
// shape, data_offsets}}, and __metadata__, whose strings are passed over.
class HeaderReader {
 public:
  using number_integer_t = json::number_integer_t;
  using number_unsigned_t = json::number_unsigned_t;
  using number_float_t = json::number_float_t;
  using string_t = json::string_t;
  using binary_t = json::binary_t;

  std::vector<Entry> entries;
  std::string error;

  bool null() { return fail("a null"); }
  bool boolean(bool) { return fail("a boolean"); }
  bool number_integer(number_integer_t) { return fail("a negative number"); }
  bool number_float(number_float_t, const string_t&) { return fail("a fraction or a number too large"); }
  bool binary(binary_t&) { return fail("binary data"); }

  bool number_unsigned(number_unsigned_t value) {
    if (at_ != At::list || (key_ != "shape" && key_ != "data_offsets")) return fail("a number out of place");
    if (value > static_cast<uint64_t>(INT64_MAX)) return fail("a number too large");
    if (list_.size() == 64) return fail("too many dimensions");
    list_.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(string_t& value) {
    if (at_ == At::metadata) return true;
    if (at_ != At::entry || key_ != "dtype") return fail("a string out of place");
    entries.back().dtype = value;
    return true;
  }

  bool start_object(size_t) {
    if (at_ == At::outside) return move_to(At::top);
    if (at_ != At::top) return fail("an object out of place");
    return move_to(key_ == "__metadata__" ? At::metadata : At::entry);
  }

  bool key(string_t& value) {
    if (at_ == At::metadata) return true;
    if (at_ == At::top) {
      if (!names_.insert(value).second) return fail(shown(value) + " twice");
      if (value != "__metadata__") {
        entries.emplace_back();
        entries.back().name = value;
      }
      seen_ = {};
    } else {
      const size_t field = value == "dtype" ? 0 : value == "shape" ? 1 : value == "data_offsets" ? 2 : 3;
      if (field == 3) return fail("the unknown field " + shown(value) + " of " + shown(entries.back().name));
      if (std::exchange(seen_[field], true)) return fail("'" + value + "' twice in " + shown(entries.back().name));
    }
    key_ = value;
    return true;
  }

  bool end_object() {
    if (at_ == At::entry && std::find(seen_.begin(), seen_.end(), false) != seen_.end())
      return fail(shown(entries.back().name) + " without its dtype, shape or data_offsets");
    return move_to(at_ == At::top ? At::outside : At::top);
  }

  bool start_array(size_t) {
    if (at_ != At::entry || key_ == "dtype") return fail("a list out of place");
    list_.clear();
    return move_to(At::list);
  }

  bool end_array() {
    Entry& entry = entries.back();
    if (key_ == "shape") {
      entry.shape = list_;
    } else {
      if (list_.size() != 2) return fail(shown(entry.name) + " without two data_offsets");
      entry.begin = static_cast<size_t>(list_[0]);
      entry.end = static_cast<size_t>(list_[1]);
    }
    return move_to(At::entry);
  }

  bool parse_error(size_t position, const std::string&, const json::exception&) {
    error = "its header is no JSON at byte " + std::to_string(position);
    return false;
  }

 private:
  enum class At { outside, top, metadata, entry, list };

  bool move_to(At at) {
    at_ = at;
    return true;
  }
  bool fail(const std::string& what) {
    error = "its header has " + what;
    return false;
  }

  At at_ = At::outside;
  std::string key_;
  std::vector<int64_t> list_;
  std::array<bool, 3> seen_{};  // dtype, shape, data_offsets of the entry at hand
  std::unordered_set<std::string> names_;
};

// Bytes an element takes; 0 for a type that the format does not have.
uint64_t element_bytes(const std::string& dtype) {
  constexpr std::array<std::pair<std::string_view, uint64_t>, 15> types{{{"F64", 8},
                                                                         {"I64", 8},
                                                                         {"U64", 8},
                                                                         {"F32", 4},
                                                                         {"I32", 4},
                                                                         {"U32", 4},
                                                                         {"F16", 2},
                                                                         {"BF16", 2},
                                                                         {"I16", 2},
                                                                         {"U16", 2},
                                                                         {"I8", 1},
                                                                         {"U8", 1},
                                                                         {"BOOL", 1},
                                                                         {"F8_E4M3", 1},
                                                                         {"F8_E5M2", 1}}};
  for (const auto& [name, bytes] : types)
    if (name == dtype) return bytes;
  return 0;
}

void check_size(const Entry& entry, const std::string& path) {
  uint64_t bytes = element_bytes(entry.dtype);
  if (bytes == 0) throw malformed(path, shown(entry.name) + " has the unknown type " + shown(entry.dtype));
  for (const int64_t extent : entry.shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
      throw malformed(path, shown(entry.name) + " has a shape too large");
  if (entry.end < entry.begin || entry.end - entry.begin != bytes)
    throw malformed(path, shown(entry.name) + " needs " + std::to_string(bytes) +
                              " bytes by its shape but has offsets " + std::to_string(entry.begin) + " to " +
                              std::to_string(entry.end));
}

}  // namespace

std::vector<Entry> parse_safetensors_header(std::string_view header, uint64_t data_bytes, const std::string& path) {
  if (!header.starts_with('{')) throw malformed(path, "its header does not begin with '{'");
  HeaderReader reader;
  if (!json::sax_parse(header.begin(), header.end(), &reader)) throw malformed(path, reader.error);
  std::vector<Entry> entries = std::move(reader.entries);
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t at = 0;
  for (const Entry& entry : entries) {
    check_size(entry, path);
    if (entry.end > data_bytes) throw malformed(path, "the data of " + shown(entry.name) + " go past its end");
    if (entry.begin < at) throw malformed(path, "the data of " + shown(entry.name) + " overlap another's");
    if (entry.begin > at) throw malformed(path, "unused bytes stand before the data of " + shown(entry.name));
    at = entry.end;
  }
  if (at != data_bytes)
    throw malformed(path, std::to_string(data_bytes - at) + " bytes after the last tensor belong to none");
  return entries;
}

}  // namespace trainyard
