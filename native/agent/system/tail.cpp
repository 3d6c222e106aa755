#include "agent/system/tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "common/files.h"

namespace trainyard {

namespace {
constexpr size_t kLongestLine = 1 << 20;
}

Tail::Tail(const std::string& path) : path_(path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0) offset_ = static_cast<uint64_t>(info.st_size);
}

std::vector<std::string> Tail::lines() {
  std::vector<std::string> complete;
  struct stat info{};
  if (::stat(path_.c_str(), &info) != 0 || static_cast<uint64_t>(info.st_size) == offset_) return complete;
  if (static_cast<uint64_t>(info.st_size) < offset_) {  // truncated: begin anew
    offset_ = 0;
    unfinished_.clear();
  }
  const Descriptor fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return complete;
  std::array<char, 65536> chunk;
  for (;;) {
    const ssize_t got = ::pread(fd.get(), chunk.data(), chunk.size(), static_cast<off_t>(offset_));
    if (got <= 0) return complete;
    offset_ += static_cast<uint64_t>(got);
    for (ssize_t at = 0; at < got; ++at) {
      const char letter = chunk[static_cast<size_t>(at)];
      if (letter == '\n') {
        if (!too_long_) complete.push_back(unfinished_);
        unfinished_.clear();
        too_long_ = false;
      } else if (unfinished_.size() < kLongestLine) {
        unfinished_.push_back(letter);
      } else {
        too_long_ = true;
      }
    }
  }
}

std::vector<std::string> last_lines(const std::string& path, size_t count, uint64_t after) {
  std::vector<std::string> lines;
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const off_t size = fd ? ::lseek(fd.get(), 0, SEEK_END) : -1;
  if (size <= 0) return lines;
  std::string text(65536, '\0');
  const off_t begin = std::max(static_cast<off_t>(after), size - static_cast<off_t>(text.size()));
  const ssize_t got = ::pread(fd.get(), text.data(), text.size(), begin);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  while (!text.empty() && lines.size() < count) {
    const size_t newline = text.rfind('\n');
    lines.push_back(newline == std::string::npos ? text : text.substr(newline + 1));
    text.resize(newline == std::string::npos ? 0 : newline);
  }
  std::ranges::reverse(lines);
  return lines;
}

}  // namespace trainyard
