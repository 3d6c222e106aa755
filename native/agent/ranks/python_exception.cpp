#include "agent/ranks/python_exception.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "agent/system/tail.h"

namespace trainyard {

namespace {

constexpr std::string_view kTraceback = "Traceback (most recent call last):";
constexpr std::string_view kPlace = "  File \"";  // a SyntaxError of the started file has no traceback
constexpr size_t kLongest = 500;

/// Without torch's "[rank3]: " or torchrun's "[default3]:".
std::string_view without_mark(std::string_view line) {
  if (!line.starts_with("[rank") && !line.starts_with("[default")) return line;
  const size_t end = line.find("]:");
  if (end == std::string_view::npos) return line;
  line.remove_prefix(end + 2);
  if (line.starts_with(' ') && !line.starts_with("  ")) line.remove_prefix(1);
  return line;
}

/// The dotted name before the first colon, or the whole line: "torch.OutOfMemoryError".
std::string_view name_of(std::string_view line) { return line.substr(0, line.find(':')); }

bool is_exception(std::string_view line) {
  const std::string_view name = name_of(line);
  const auto is_of_a_name = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '.' || letter >= 0x80;
  };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name, is_of_a_name);
}

}  // namespace

std::optional<std::string> last_python_exception(const std::string& log, uint64_t begin) {
  std::optional<std::string> found;
  bool in_traceback = false;
  for (const std::string& whole : last_lines(log, SIZE_MAX, begin)) {
    std::string_view line = without_mark(whole);
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    if (line.ends_with(kTraceback) || line.starts_with(kPlace)) {  // a progress bar may stand before it
      in_traceback = true;
    } else if (in_traceback && !line.empty() && !line.starts_with(' ')) {
      in_traceback = false;
      const bool is_torchruns = name_of(line).ends_with("ChildFailedError") && found;
      if (is_exception(line) && !is_torchruns) found = line.substr(0, kLongest);
    }
  }
  return found;
}

bool is_mistake_in_the_text(const std::string& exception) {
  static const std::set<std::string_view> kNames{"SyntaxError", "IndentationError", "TabError",
                                                 "NameError",   "ImportError",      "ModuleNotFoundError"};
  return kNames.contains(name_of(exception));
}

}  // namespace trainyard
