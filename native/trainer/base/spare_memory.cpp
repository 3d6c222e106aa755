#include "trainer/base/spare_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

namespace trainyard {

namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

/// What an eighth of `total` leaves of `free`.
uint64_t spare(uint64_t total, uint64_t free) { return free > total / 8 ? free - total / 8 : 0; }

/// The number alone in a file; nothing for "max" or where there is none.
std::optional<uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

/// The value of `key` in lines of "key value".
uint64_t value_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string name;
  std::string rest;
  for (uint64_t value = 0; file >> name >> value; std::getline(file, rest)) {
    if (name == key) return value;
  }
  return 0;
}

uint64_t spare_of_machine(const std::string& root) {
  const std::string path = root + "/proc/meminfo";
  const uint64_t total = value_in(path, "MemTotal:");
  const uint64_t available = value_in(path, "MemAvailable:");
  return total == 0 ? kUnlimited : spare(total * 1024, available * 1024);
}

struct GroupFiles {
  const char* limit;
  const char* used;
  const char* reclaimable;  ///< its line in memory.stat
};

/// The least of a group and those that it is in.
uint64_t spare_of_groups(const std::string& mount, std::string group, const GroupFiles& files) {
  uint64_t least = kUnlimited;
  for (;;) {
    const std::string folder = mount + group + "/";
    const auto limit = number_in(folder + files.limit);
    const auto used = number_in(folder + files.used);
    if (limit && used) {
      const uint64_t kept = *used - std::min(*used, value_in(folder + "memory.stat", files.reclaimable));
      least = std::min(least, spare(*limit, *limit - std::min(*limit, kept)));
    }
    if (group.empty()) return least;
    group.resize(std::min(group.rfind('/'), group.size() - 1));
  }
}

}  // namespace

uint64_t spare_memory(const std::string& root) {
  uint64_t least = spare_of_machine(root);
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // NUMBER:CONTROLLERS:/PATH (cgroups(7))
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    while (!group.empty() && group.back() == '/') group.pop_back();
    const std::string mount = root + "/sys/fs/cgroup";
    if (controllers.empty()) {
      least = std::min(least, spare_of_groups(mount, group, {"memory.max", "memory.current", "inactive_file"}));
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      least =
          std::min(least, spare_of_groups(mount + "/memory", group,
                                          {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}));
    }
  }
  return least;
}

}  // namespace trainyard
