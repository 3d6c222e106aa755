#include "trainer/data/archive/label_list.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>

#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr off_t kLongestFile = off_t{64} << 20;

[[noreturn]] void refuse(const std::string& what, const std::string& to_do) {
  throw Error(Exit::data, what + ". " + to_do);
}

/// The words of each line, the last empty lines left out.
std::vector<std::vector<std::string>> words_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && status.st_size > kLongestFile) {
    refuse(path + " has more than 64 MiB", "Give a list of labels, one a line");
  }
  std::istringstream text(read_file(path));
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(text, line);) {
    std::istringstream in(line);
    std::vector<std::string>& words = lines.emplace_back();
    for (std::string word; in >> word;) words.push_back(std::move(word));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.empty()) refuse(path + " is empty", "Put one label in each line");
  return lines;
}

std::optional<uint64_t> number(const std::string& word) {
  uint64_t value = 0;
  const auto end = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end.ec != std::errc() || end.ptr != word.data() + word.size()) return std::nullopt;
  return value;
}

bool all_numbers(const LabelList& list) {
  return std::all_of(list.lines.begin(), list.lines.end(),
                     [](const auto& line) { return number(line.label).has_value(); });
}

}  // namespace

LabelList read_label_list(const std::string& path) {
  LabelList list{path, {}};
  const auto lines = words_of(path);
  const size_t words = lines.front().size();
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty() || lines[i].size() > 2 || lines[i].size() != words) {
      refuse("line " + std::to_string(i + 1) + " of " + path + " has " + std::to_string(lines[i].size()) +
                 " words, the first one " + std::to_string(words),
             "Give lines of a label each, or of an image's name and its label");
    }
    list.lines.push_back({words == 2 ? lines[i].front() : "", lines[i].back()});
  }
  return list;
}

void name_numbers(LabelList& list, const std::string& names_path, const std::vector<std::string>& classes) {
  const std::set<std::string> known(classes.begin(), classes.end());
  if (!all_numbers(list)) {
    if (!names_path.empty()) refuse(list.path + " has labels that are no numbers", "Leave --label-names out");
    return;
  }
  const auto label_known = [&](const auto& line) { return known.contains(line.label); };
  if (names_path.empty() && std::all_of(list.lines.begin(), list.lines.end(), label_known)) return;
  if (names_path.empty() && classes.empty()) return;
  const bool from_zero =
      std::any_of(list.lines.begin(), list.lines.end(), [](const auto& line) { return *number(line.label) == 0; });
  std::vector<std::string> names = classes;
  if (!names_path.empty()) {
    names.clear();
    for (const auto& words : words_of(names_path)) names.push_back(words.empty() ? "" : words.front());
  } else if (!from_zero) {
    refuse("the labels in " + list.path +
               " are numbers from 1, which may count the classes in another order (ImageNet's "
               "development kit does) than " +
               classes.front() + ", …",
           "Give --label-names FILE with the class of each number, a line each, or labels that are names");
  }
  for (auto& line : list.lines) {
    const uint64_t at = *number(line.label) - (from_zero ? 0 : 1);
    if (at >= names.size() || names[at].empty()) {
      refuse("label " + line.label + " in " + list.path + " has no name in " +
                 (names_path.empty() ? "the " + std::to_string(names.size()) + " classes" : names_path),
             "Correct the list");
    }
    line.label = names[at];
  }
}

std::vector<std::string> classes_of(const LabelList& list) {
  std::set<std::string> distinct;
  for (const auto& line : list.lines) distinct.insert(line.label);
  std::vector<std::string> classes(distinct.begin(), distinct.end());
  if (!all_numbers(list)) return classes;
  std::sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) { return *number(a) < *number(b); });
  return classes;
}

}  // namespace trainyard
