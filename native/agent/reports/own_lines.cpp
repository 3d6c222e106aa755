#include "agent/reports/own_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>

#include "agent/messages/json.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr size_t kChunk = 1 << 20;
constexpr int64_t kMostSteps = int64_t{1} << 53;

/// With null in the place of words that Python writes for what is no number.
std::string without_odd_numbers(const std::string& line) {
  constexpr std::array<std::string_view, 3> kWords{"-Infinity", "Infinity", "NaN"};
  std::string plain;
  bool quoted = false;
  for (size_t at = 0; at < line.size(); ++at) {
    const char letter = line[at];
    if (quoted && letter == '\\') {
      plain.append(line, at++, 2);
      continue;
    }
    if (letter == '"') quoted = !quoted;
    size_t length = 0;
    for (const std::string_view word : kWords) {
      if (!quoted && length == 0 && line.compare(at, word.size(), word) == 0) length = word.size();
    }
    plain += length > 0 ? "null" : std::string(1, letter);
    if (length > 0) at += length - 1;
  }
  return plain;
}

}  // namespace

OwnLine read_own_line(const std::string& line, double now) {
  const Json json = parse_json(line.find_first_of("NI") == std::string::npos ? line : without_odd_numbers(line));
  if (!json.is_object()) throw FieldError("it is not a JSON object");
  const auto step = json.find("step");
  const bool whole = step != json.end() && step->is_number() &&
                     std::floor(step->get<double>()) == step->get<double>() &&
                     std::abs(step->get<double>()) < static_cast<double>(kMostSteps);
  if (!whole) throw FieldError("it has no \"step\" that is a whole number");
  const auto time = json.find("time");
  const double at = time != json.end() && time->is_number() ? time->get<double>() : now;
  OwnLine read;
  const auto rank = json.find("rank");
  if (rank != json.end() && rank->is_number_integer()) read.writer = "rank " + std::to_string(rank->get<int64_t>());
  for (const auto& [name, value] : json.items()) {
    if (name == "step" || name == "time" || name == "rank" || name.empty()) continue;
    if (!value.is_number() && !value.is_null()) continue;
    read.scalars.push_back(
        {name, static_cast<int64_t>(step->get<double>()), value.is_null() ? std::nan("") : value.get<double>(), at});
  }
  return read;
}

OwnLines::Read OwnLines::read(double now) {
  Read result;
  const Descriptor fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return result;
  if (static_cast<uint64_t>(info.st_size) < offset_) offset_ = 0;  // it was written anew
  std::string chunk(kChunk, '\0');
  const ssize_t got = ::pread(fd.get(), chunk.data(), chunk.size(), static_cast<off_t>(offset_));
  if (got <= 0) return result;
  chunk.resize(static_cast<size_t>(got));
  const auto wrong = [&](const std::string& why) {
    if (result.wrong++ == 0) result.first_wrong = why;
  };
  size_t begin = 0;
  for (size_t end; (end = chunk.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string line = chunk.substr(begin, end - begin);
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      result.lines.push_back(read_own_line(line, now));
    } catch (const FieldError& error) {
      wrong("at byte " + std::to_string(offset_ + begin) + ": " + error.what());
    }
  }
  if (begin == 0 && chunk.size() == kChunk) {
    wrong("at byte " + std::to_string(offset_) + ": a line has more than 1 MiB");
    begin = chunk.size();
  }
  result.more = chunk.size() == kChunk;
  offset_ += begin;
  return result;
}

}  // namespace trainyard
