#include "agent/messages/json.h"

#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {
constexpr int kDeepest = 64;
}

Json parse_json(std::string_view text) {
  const auto refuse_depth = [](int depth, Json::parse_event_t, const Json&) {
    if (depth > kDeepest) throw FieldError("JSON is nested deeper than 64. Send flatter values");
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), refuse_depth);
  } catch (const Json::exception& error) {
    throw FieldError(std::string("not JSON: ") + error.what());
  }
}

std::string to_line(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::optional<Json> read_json_object(const std::string& path) {
  try {
    Json value = parse_json(read_file(path));
    if (value.is_object()) return value;
    return std::nullopt;
  } catch (const FieldError&) {
    return std::nullopt;  // a damaged file counts as none; whoever needs it says so
  } catch (const Error&) {
    return std::nullopt;
  }
}

Fields::Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object_.is_object()) throw FieldError(where_ + " must be an object");
}

void Fields::fail(const std::string& name, const std::string& expected) const {
  throw FieldError(where_ + "." + name + " must be " + expected);
}

const Json* Fields::find(const char* name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const Json& Fields::required(const char* name) const {
  const Json* found = find(name);
  if (found == nullptr) throw FieldError(where_ + "." + name + " is missing");
  return *found;
}

std::string Fields::text_of(const Json& value, const std::string& name) const {
  if (!value.is_string()) fail(name, "a string");
  std::string text = value.get<std::string>();
  if (text.find('\0') != std::string::npos) fail(name, "a string without NUL bytes");
  return text;
}

std::string Fields::string(const char* name) const { return text_of(required(name), name); }

std::optional<std::string> Fields::optional_string(const char* name) const {
  const Json* found = find(name);
  if (found == nullptr) return std::nullopt;
  return text_of(*found, name);
}

int64_t Fields::integer(const char* name, int64_t least, int64_t most) const {
  const Json& value = required(name);
  const std::string range = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  if (!value.is_number_integer()) fail(name, range);
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(most)) fail(name, range);
  const int64_t number = value.get<int64_t>();
  if (number < least || number > most) fail(name, range);
  return number;
}

int64_t Fields::integer_or(const char* name, int64_t fallback, int64_t least, int64_t most) const {
  return find(name) == nullptr ? fallback : integer(name, least, most);
}

double Fields::number_or(const char* name, double fallback, double least, double most) const {
  const Json* found = find(name);
  if (found == nullptr) return fallback;
  const double number = found->is_number() ? found->get<double>() : least - 1;
  if (!(number >= least && number <= most)) {
    fail(name, "a number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

bool Fields::boolean_or(const char* name, bool fallback) const {
  const Json* found = find(name);
  if (found == nullptr) return fallback;
  if (!found->is_boolean()) fail(name, "true or false");
  return found->get<bool>();
}

std::vector<std::string> Fields::strings(const char* name) const {
  const Json& value = required(name);
  if (!value.is_array()) fail(name, "a list of strings");
  std::vector<std::string> all;
  for (const Json& item : value)
    all.push_back(text_of(item, std::string(name) + "[" + std::to_string(all.size()) + "]"));
  return all;
}

std::map<std::string, std::string> Fields::string_map_or_empty(const char* name) const {
  std::map<std::string, std::string> all;
  const Json* found = find(name);
  if (found == nullptr) return all;
  if (!found->is_object()) fail(name, "an object of strings");
  for (const auto& [key, value] : found->items()) all[key] = text_of(value, std::string(name) + "." + key);
  return all;
}

}  // namespace trainyard
