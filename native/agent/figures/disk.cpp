#include "agent/figures/disk.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/error.h"

namespace trainyard {

DiskSpace disk_space(const std::string& path) {
  struct statvfs info{};
  if (::statvfs(path.c_str(), &info) != 0) {
    const std::string parent = std::filesystem::path(path).parent_path().string();
    if (errno == ENOENT && !parent.empty() && parent != path) return disk_space(parent);
    throw file_error("look at the free space of", path);
  }
  // Some file systems say "no limit" by a number that JavaScript could not hold exactly.
  constexpr uint64_t kLargest = (1ULL << 53) - 1;
  return {std::min(static_cast<uint64_t>(info.f_bavail) * info.f_frsize, kLargest),
          std::min(static_cast<uint64_t>(info.f_blocks) * info.f_frsize, kLargest),
          std::min(static_cast<uint64_t>(info.f_favail), kLargest)};
}

}  // namespace trainyard
