#include "trainer/ops/plans/plan_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/error.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

/// As a part of a file's name.
std::string plain(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (kept) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  return name;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(at, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

}  // namespace

PlanFile::PlanFile(const std::string& folder, std::string device, std::string library, Say say)
    : folder_(folder), device_(std::move(device)), library_(std::move(library)), say_(std::move(say)) {
  if (!folder.empty()) path_ = (fs::path(folder) / (plain(device_ + "-" + library_) + ".tsv")).string();
}

PlanFile::Turn PlanFile::take_turn() {
  if (path_.empty()) return Turn(Descriptor());
  std::error_code error;
  fs::create_directories(folder_, error);
  const std::string name = path_ + ".lock";
  Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) {
    complain(errno_message(name));
    return Turn(Descriptor());
  }
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    complain(errno_message(name));  // a disk without locks
    break;
  }
  return Turn(std::move(file));
}

void PlanFile::read() {
  std::error_code error;
  if (path_.empty() || !fs::exists(path_, error)) return;
  try {
    Choices found;
    if (parse(read_file(path_), found)) {
      // What could not be written stays known to this process.
      for (auto& [work, choice] : found) choices_[work] = std::move(choice);
    } else {
      complain(path_ + " is damaged, and is not used");
    }
  } catch (const Error& failure) {
    complain(failure.what());
  }
}

std::string PlanFile::find(const std::string& work) const {
  const auto found = choices_.find(work);
  return found == choices_.end() ? "" : found->second.name;
}

void PlanFile::add(const std::string& work, const std::string& choice, double milliseconds) {
  choices_[work] = {choice, milliseconds};
  if (path_.empty()) return;
  try {
    replace_file(path_, text());
  } catch (const Error& failure) {
    complain(failure.what());
  }
}

std::string PlanFile::head() const { return "trainyard plans 1\t" + device_ + "\t" + library_ + "\n"; }

std::string PlanFile::text() const {
  std::string all = head();
  for (const auto& [work, choice] : choices_) {
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), "%.6g", choice.milliseconds);
    all += work + "\t" + choice.name + "\t" + number.data() + "\n";
  }
  return all + "end\t" + std::to_string(choices_.size()) + "\n";
}

bool PlanFile::parse(const std::string& text, Choices& choices) const {
  const std::string first = head();
  if (!text.starts_with(first) || !text.ends_with('\n')) return false;
  std::vector<std::string> lines = split(text.substr(first.size(), text.size() - first.size() - 1), '\n');
  const std::string last = "end\t" + std::to_string(lines.size() - 1);
  if (lines.back() != last) return false;
  lines.pop_back();
  for (const std::string& line : lines) {
    const std::vector<std::string> fields = split(line, '\t');
    if (fields.size() != 3 || fields[0].empty() || fields[1].empty()) return false;
    char* end = nullptr;
    const double milliseconds = std::strtod(fields[2].c_str(), &end);
    if (fields[2].empty() || *end != '\0' || !std::isfinite(milliseconds)) return false;
    choices[fields[0]] = {fields[1], milliseconds};
  }
  return true;
}

void PlanFile::complain(const std::string& what) {
  if (!std::exchange(complained_, true)) say_(what);
}

}  // namespace trainyard
