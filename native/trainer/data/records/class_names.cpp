#include "trainer/data/records/class_names.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr off_t kLongestFile = off_t{16} << 20;

[[noreturn]] void refuse(const std::string& what, const std::string& to_do) {
  throw Error(Exit::data, what + ". " + to_do);
}

/// labels.txt as it stands there.
struct NamesFile {
  std::string path;
  bool numbered = false;
  std::vector<std::string> lines;           ///< of a plain one
  std::map<int64_t, std::string> by_label;  ///< of a numbered one
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
    lines.push_back(std::move(line));
    begin = end + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// "7:rose" taken apart.
std::optional<std::pair<int64_t, std::string>> numbered(const std::string& line) {
  int64_t label = 0;
  const auto end = std::from_chars(line.data(), line.data() + line.size(), label);
  if (end.ec != std::errc() || end.ptr == line.data() + line.size() || *end.ptr != ':') return std::nullopt;
  return std::pair(label, line.substr(static_cast<size_t>(end.ptr - line.data()) + 1));
}

std::optional<NamesFile> read_names(const std::string& folder) {
  for (const char* name : {"labels.txt", "label.labels.txt"}) {
    NamesFile file;
    file.path = folder + "/" + name;
    struct stat status{};
    if (::stat(file.path.c_str(), &status) != 0) continue;
    if (status.st_size > kLongestFile) refuse(file.path + " has more than 16 MiB", "Put one class name in each line");
    file.lines = lines_of(read_file(file.path));
    if (file.lines.empty()) refuse(file.path + " is empty", "Put one class name in each line, or remove it");
    file.numbered = std::all_of(file.lines.begin(), file.lines.end(),
                                [](const auto& line) { return line.empty() || numbered(line).has_value(); });
    for (const std::string& line : file.lines) {
      if (auto entry = numbered(line); file.numbered && entry) file.by_label.insert(*entry);
    }
    return file;
  }
  return std::nullopt;
}

bool is_background(const std::string& name) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower.find("background") != std::string::npos;
}

/// Whether labels.txt shows that 0 is a class like the others, of which there merely is no image.
bool names_class_zero(const std::optional<NamesFile>& file, int64_t largest) {
  if (!file) return false;
  if (!file->numbered) {
    return static_cast<int64_t>(file->lines.size()) > largest && !is_background(file->lines.front());
  }
  const auto zero = file->by_label.find(0);
  return zero != file->by_label.end() && !is_background(zero->second);
}

int64_t choose_offset(const std::optional<NamesFile>& file, const std::map<int64_t, FirstOfClass>& labels,
                      const DatasetOptions& options) {
  const auto& [smallest, first] = *labels.begin();
  std::optional<int64_t> offset = options.label_offset;
  if (!offset && options.trained) offset = options.trained->label_offset;
  if (!offset && smallest == 1 && !names_class_zero(file, labels.rbegin()->first)) {
    refuse("the smallest label in the shards is 1 (" + first.where +
               "), as where classes are numbered from 1 and 0 is the background",
           "Add --label-offset 1, or --label-offset 0 if class 0 only has no images here");
  }
  if (smallest >= offset.value_or(0)) return offset.value_or(0);
  refuse("the label " + std::to_string(smallest) + " of " + first.where + " is below " +
             std::to_string(offset.value_or(0)) + ", where classes begin",
         offset.value_or(0) == 0 ? "Leave records without a class out of the shards" : "Correct --label-offset");
}

std::vector<std::string> names_from(const NamesFile& file, int64_t offset) {
  if (!file.numbered) {
    const bool drop = offset > 0 && is_background(file.lines.front());
    return {file.lines.begin() + (drop ? 1 : 0), file.lines.end()};
  }
  const int64_t count = file.by_label.rbegin()->first - offset + 1;
  if (count < 1 || count > kMostClasses) {
    refuse(file.path + " names " + std::to_string(file.by_label.rbegin()->first) + " as its last label",
           "Number the classes from 0");
  }
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) {
    const auto found = file.by_label.find(i + offset);
    names.push_back(found == file.by_label.end() ? std::to_string(i) : found->second);
  }
  return names;
}

/// The records' own names; empty where a class has none, or shares it. A class that no record has
/// keeps its name in `names`, or has its number.
std::vector<std::string> names_from_texts(const std::map<int64_t, FirstOfClass>& labels, int64_t offset,
                                          std::vector<std::string> names) {
  std::set<std::string> distinct;
  for (const auto& [label, first] : labels) {
    if (first.text.empty() || !distinct.insert(first.text).second) return {};
    names[static_cast<size_t>(label - offset)] = first.text;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) continue;
    names[i] = std::to_string(i);
    if (distinct.contains(names[i])) return {};
  }
  return names;
}

/// "1 to 9, 11 and 13": the labels of [offset, largest] that no record has; and how many there are.
std::pair<std::string, int64_t> unused_labels(const std::map<int64_t, FirstOfClass>& labels, int64_t offset) {
  constexpr int kMostShown = 8;
  std::string text;
  int shown = 0;
  int64_t count = 0;
  int64_t next = offset;
  for (const auto& [label, first] : labels) {
    if (label > next) {
      count += label - next;
      const std::string last = label - next > 1 ? " to " + std::to_string(label - 1) : "";
      if (shown < kMostShown) text += (shown > 0 ? ", " : "") + std::to_string(next) + last;
      if (shown == kMostShown) text += " …";
      ++shown;
    }
    next = label + 1;
  }
  return {text, count};
}

}  // namespace

RecordClasses name_classes(const std::string& folder, const std::map<int64_t, FirstOfClass>& labels,
                           const DatasetOptions& options) {
  const auto file = read_names(folder);
  RecordClasses classes;
  classes.offset = choose_offset(file, labels, options);
  const auto& [largest, first] = *labels.rbegin();
  const int64_t count = largest - classes.offset + 1;
  if (count > kMostClasses) {
    refuse("the label " + std::to_string(largest) + " of " + first.where + " is beyond " +
               std::to_string(kMostClasses) + " classes",
           "Number the classes from 0 in image/class/label, or give --label-offset");
  }
  const std::vector<std::string> trained = options.trained ? options.trained->class_names : std::vector<std::string>();
  if (file) {
    classes.names = names_from(*file, classes.offset);
  } else {
    // An evaluation set may lack some classes, which its checkpoint knows.
    std::vector<std::string> known = trained;
    known.resize(std::max(known.size(), static_cast<size_t>(count)));
    classes.names = names_from_texts(labels, classes.offset, std::move(known));
    if (classes.names.empty()) classes.names = trained;
    const auto [unused, missing] = unused_labels(labels, classes.offset);
    if (missing > 0 && trained.empty()) {
      classes.note = std::to_string(missing) + " of the labels " + std::to_string(classes.offset) + " to " +
                     std::to_string(largest) + " have no sound record: " + unused +
                     ". Each of them becomes a class without images all the same. Name the classes in labels.txt if "
                     "that is meant, or number them without gaps";
    }
    for (int64_t i = 0; trained.empty() && classes.names.size() < static_cast<size_t>(count); ++i) {
      classes.names.push_back(std::to_string(i));
    }
  }
  if (count <= static_cast<int64_t>(classes.names.size())) return classes;
  refuse("the label " + std::to_string(largest) + " of " + first.where + " is beyond the " +
             std::to_string(classes.names.size()) + " classes " +
             (file ? "that " + file->path + " names" : "of the checkpoint"),
         file ? "Complete " + file->path + ", or correct --label-offset"
              : "Give shards with the classes of the training data, or correct --label-offset");
}

}  // namespace trainyard
