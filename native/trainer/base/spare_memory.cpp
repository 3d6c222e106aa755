#include "trainer/base/spare_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>

namespace trainyard {

namespace {

/// What of `free` may be taken, where `total` is all there is.
using Rule = uint64_t (*)(uint64_t total, uint64_t free);

uint64_t all(uint64_t /*total*/, uint64_t free) { return free; }
uint64_t all_but_an_eighth(uint64_t total, uint64_t free) { return free > total / 8 ? free - total / 8 : 0; }

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

uint64_t left_of_machine(const std::string& root, Rule rule) {
  const std::string path = root + "/proc/meminfo";
  const uint64_t total = value_in(path, "MemTotal:");
  const uint64_t available = value_in(path, "MemAvailable:");
  return total == 0 ? kUnknownMemory : rule(total * 1024, available * 1024);
}

struct GroupFiles {
  const char* limit;
  const char* used;
  const char* reclaimable;  ///< its line in memory.stat
};

/// The least of a group and those that it is in.
uint64_t left_of_groups(const std::string& mount, std::string group, const GroupFiles& files, Rule rule) {
  uint64_t least = kUnknownMemory;
  for (;;) {
    const std::string folder = mount + group + "/";
    const auto limit = number_in(folder + files.limit);
    const auto used = number_in(folder + files.used);
    if (limit && used) {
      const uint64_t kept = *used - std::min(*used, value_in(folder + "memory.stat", files.reclaimable));
      least = std::min(least, rule(*limit, *limit - std::min(*limit, kept)));
    }
    if (group.empty()) return least;
    group.resize(std::min(group.rfind('/'), group.size() - 1));
  }
}

uint64_t left(const std::string& root, Rule rule) {
  uint64_t least = left_of_machine(root, rule);
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
      least = std::min(least, left_of_groups(mount, group, {"memory.max", "memory.current", "inactive_file"}, rule));
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      least = std::min(least,
                       left_of_groups(mount + "/memory", group,
                                      {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}, rule));
    }
  }
  return least;
}

}  // namespace

uint64_t free_memory(const std::string& root) { return left(root, all); }

uint64_t spare_memory(const std::string& root) { return left(root, all_but_an_eighth); }

}  // namespace trainyard
