// Files of labels: labels.txt beside shards, and lists of labels for an archive. The first byte
// chooses, its bits also the labels that the records have.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "common/error.h"
#include "fuzz/target.h"
#include "trainer/data/archive/label_list.h"
#include "trainer/data/records/class_names.h"

namespace trainyard::fuzz {

namespace {

/// A folder for labels.txt, gone with the process.
class Folder {
 public:
  Folder() { require(::mkdtemp(path_.data()) != nullptr, "a folder for labels.txt"); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/dev/shm/trainyard-fuzz-XXXXXX";
};

void beside_shards(const std::string& text, unsigned choice) {
  static const Folder folder;
  std::ofstream(folder.path() + "/labels.txt", std::ios::binary) << text;
  std::map<int64_t, FirstOfClass> labels;
  for (const int64_t label : {choice & 1U ? 1 : 0, choice & 2U ? 5 : 2}) {
    labels[label] = {.shard = 0, .where = "shard at byte 0", .text = choice & 4U ? "rose" + std::to_string(label) : ""};
  }
  DatasetOptions options;
  if ((choice & 8U) != 0) options.label_offset = 1;
  const RecordClasses classes = name_classes(folder.path(), labels, options);
  require(static_cast<int64_t>(classes.names.size()) > labels.rbegin()->first - classes.offset,
          "every label has a class");
  require(static_cast<int64_t>(classes.names.size()) <=
              std::max<int64_t>(kMostClasses, static_cast<int64_t>(text.size()) + 1),
          "classes are bounded");
}

void of_an_archive(const std::string& text, unsigned choice) {
  const Descriptor fd = memory_file(text);
  const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
  LabelList list = read_label_list(path);
  require(!list.lines.empty(), "an empty list is refused");
  const std::vector<std::string> known =
      choice & 1U ? std::vector<std::string>{"rose", "tulip", "7"} : std::vector<std::string>();
  name_numbers(list, choice & 2U ? path : "", known);
  const std::vector<std::string> classes = classes_of(list);
  const std::set<std::string> distinct(classes.begin(), classes.end());
  require(distinct.size() == classes.size() && !classes.empty(), "classes are distinct");
  for (const auto& line : list.lines) require(distinct.contains(line.label), "every label is a class");
}

}  // namespace

std::vector<std::string> seeds() {
  const auto chosen = [](unsigned char choice, const char* text) {
    return static_cast<char>(choice) + std::string(text);
  };
  return {chosen(0x04, "rose\ntulip\nlily\ndaisy\nlotus\nfern\n"),
          chosen(0x00, "0:rose\n5:tulip\n2:lily\n"),
          chosen(0x09, "background\nrose\ntulip\nlily\ndaisy\nfern\n"),
          chosen(0x80, "n01440764\nn01443537\n"),
          chosen(0x81, "1.jpg 0\n2.jpg 1\n"),
          chosen(0x82, "3\n1\n2\n")};
}

void run(std::string_view input) {
  if (input.empty()) return;
  const auto choice = static_cast<unsigned char>(input.front());
  const std::string text(input.substr(1));
  try {
    if ((choice & 0x80U) != 0) {
      of_an_archive(text, choice);
    } else {
      beside_shards(text, choice);
    }
  } catch (const Error& error) {
    require(error.code() == Exit::data, "a bad list is bad data");
  }
}

}  // namespace trainyard::fuzz
