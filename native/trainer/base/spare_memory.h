// How much memory may still be taken without harm to others.
#pragma once
#include <cstdint>
#include <string>

namespace trainyard {

/// Bytes that can be taken while an eighth of the memory stays free: of the machine's (/proc/meminfo) and of every
/// control group that this process is in and that has a limit (version 2 and 1; what a group has read from files and
/// could let go counts as free). The most there is where none of them can be read. root: put before the paths.
uint64_t spare_memory(const std::string& root = "");

}  // namespace trainyard
