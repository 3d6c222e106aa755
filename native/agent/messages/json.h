// JSON as the agent reads and writes it: bounded in depth, one object a line, fields in the order
// they were written.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

using Json = nlohmann::ordered_json;

/// A text that is not JSON, or a field of the wrong type; the message names the field and what was
/// expected.
class FieldError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Parses one JSON value. Throws FieldError; nesting deeper than 64 is refused, so that no input
/// exhausts the stack.
Json parse_json(std::string_view text);

/// The value, or null where there is none.
template <typename T>
Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// One line without the newline; bytes that are not UTF-8 become U+FFFD.
std::string to_line(const Json& value);

/// The parsed file, or nothing where it is missing, unreadable or not an object.
std::optional<Json> read_json_object(const std::string& path);

/// Typed access to the fields of one object. Every method throws FieldError when the type is wrong.
class Fields {
 public:
  /// `where` names the object in messages. `object` must outlive this.
  Fields(const Json& object, std::string where);

  const Json* find(const char* name) const;  ///< nullptr when absent or null
  std::string string(const char* name) const;
  std::optional<std::string> optional_string(const char* name) const;
  int64_t integer(const char* name, int64_t least, int64_t most) const;
  int64_t integer_or(const char* name, int64_t fallback, int64_t least, int64_t most) const;
  double number_or(const char* name, double fallback, double least, double most) const;
  bool boolean_or(const char* name, bool fallback) const;
  std::vector<std::string> strings(const char* name) const;
  std::map<std::string, std::string> string_map_or_empty(const char* name) const;

 private:
  const Json& required(const char* name) const;
  std::string text_of(const Json& value, const std::string& name) const;
  [[noreturn]] void fail(const std::string& name, const std::string& expected) const;

  const Json& object_;
  std::string where_;
};

}  // namespace trainyard
