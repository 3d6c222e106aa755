// New whole lines of a file that others append to.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

class Tail {
 public:
  /// Begins at the file's present end; a file that is not there yet is read from its beginning.
  explicit Tail(const std::string& path);

  /// Lines completed since the last call, without newlines. Lines over 1 MiB are left out. An
  /// unreadable file has none.
  std::vector<std::string> lines();

 private:
  std::string path_;
  uint64_t offset_ = 0;
  std::string unfinished_;
  bool too_long_ = false;
};

/// The last `count` lines of a file's last 64 KiB after byte `after`, fewer where there are fewer;
/// none when it cannot be read.
std::vector<std::string> last_lines(const std::string& path, size_t count, uint64_t after = 0);

}  // namespace trainyard
