// How much memory may still be taken without harm to others.
#pragma once
#include <cstdint>
#include <limits>
#include <string>

namespace trainyard {

inline constexpr uint64_t kUnknownMemory = std::numeric_limits<uint64_t>::max();

/// Bytes that can be taken before the machine's memory (/proc/meminfo; swap is not counted) or that
/// of a control group which this process is in is all in use (version 2 and 1; what a group has
/// read from files and could let go counts as free). kUnknownMemory where none of them can be read.
/// root: put before the paths.
uint64_t free_memory(const std::string& root = "");

/// The same, but an eighth of the machine's memory and of every group's limit stays free.
uint64_t spare_memory(const std::string& root = "");

}  // namespace trainyard
