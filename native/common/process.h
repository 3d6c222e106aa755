// Who a process is: a pid alone may have been given to another since.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainyard {

struct ProcessId {
  int pid = 0;
  uint64_t start_time = 0;  ///< field 22 of /proc/<pid>/stat, clock ticks since boot
};

/// The start time of a live process; nothing when there is none (a zombie counts as none).
std::optional<uint64_t> process_start_time(int pid);

bool is_alive(const ProcessId& process);

/// /proc/sys/kernel/random/boot_id without its newline.
std::string boot_id();

/// The profile's name of this node (TRAINYARD_HOST) in a run of several hosts, else the machine's
/// own.
std::string host_name();

/// Seconds since the epoch.
double now_seconds();

}  // namespace trainyard
