#include "agent/run/run_processes.h"

#include <unistd.h>

#include <algorithm>

#include "agent/run/run_state.h"

namespace trainyard {

std::vector<NamedProcess> find_run(const RunFolder& folder, const std::set<int>& spared) {
  std::vector<NamedProcess> recorded;
  const auto state = read_json_object(folder.state());
  for (const NamedProcess& one : state ? recorded_processes(*state) : std::vector<NamedProcess>()) {
    if (one.process.pid != ::getpid() && !spared.contains(one.process.pid) && is_alive(one.process))
      recorded.push_back(one);
  }
  std::vector<NamedProcess> found = find_marked(folder.dir(), spared);
  std::erase_if(found, [&recorded](const NamedProcess& one) {
    return std::ranges::find(recorded, one.process.pid, [](const auto& other) { return other.process.pid; }) !=
           recorded.end();
  });
  found.insert(found.end(), recorded.begin(), recorded.end());
  return found;
}

}  // namespace trainyard
