// Free space where a path is, or would be.
#pragma once
#include <cstdint>
#include <string>

namespace trainyard {

struct DiskSpace {
  uint64_t free = 0;   ///< bytes that this user may still write
  uint64_t total = 0;  ///< bytes
  uint64_t inodes_free = 0;
};

/// Of the file system of `path`, or of its nearest existing parent. Throws file_error.
DiskSpace disk_space(const std::string& path);

}  // namespace trainyard
