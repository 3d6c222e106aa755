#include "agent/run/folder/run_about.h"

#include "common/files.h"

namespace trainyard {

namespace {

// In bytes, so that the list of many runs fits into one message.
constexpr size_t kMostName = 400;
constexpr size_t kMostTags = 20;
constexpr size_t kMostTag = 200;
constexpr size_t kMostNotes = 16'000;

void check_length(const std::string& text, size_t most, const std::string& what) {
  if (text.size() <= most) return;
  throw FieldError(what + " has " + std::to_string(text.size()) + " bytes; " + std::to_string(most) +
                   " are possible. Shorten it");
}

}  // namespace

Json parse_about(const Json& given, const std::string& where) {
  const Fields fields(given, where);
  const std::string name = fields.optional_string("name").value_or("");
  check_length(name, kMostName, where + ".name");
  if (name.find_first_of("\r\n") != std::string::npos) throw FieldError(where + ".name must be one line");
  const std::vector<std::string> tags =
      fields.find("tags") != nullptr ? fields.strings("tags") : std::vector<std::string>{};
  if (tags.size() > kMostTags) {
    throw FieldError(where + ".tags has " + std::to_string(tags.size()) + " tags; " + std::to_string(kMostTags) +
                     " are possible");
  }
  for (const std::string& tag : tags) check_length(tag, kMostTag, where + ".tags: a tag");
  const std::string notes = fields.optional_string("notes").value_or("");
  check_length(notes, kMostNotes, where + ".notes");
  return Json{{"name", name}, {"tags", tags}, {"notes", notes}};
}

Json read_about(const RunFolder& folder) {
  const auto written = read_json_object(folder.about());
  if (!written) return nullptr;
  try {
    return parse_about(*written, "about.json");
  } catch (const FieldError&) {
    return nullptr;  // somebody edited it by hand; the next write replaces it
  }
}

void write_about(const RunFolder& folder, const Json& about) { replace_file(folder.about(), to_line(about) + "\n"); }

}  // namespace trainyard
