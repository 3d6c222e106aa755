#include "agent/run/run_processes.h"

#include <unistd.h>

#include <algorithm>

#include "agent/run/run_state.h"

namespace trainyard {

std::vector<NamedProcess> find_run(const RunFolder& folder, const std::set<int>& spared) {
  std::vector<NamedProcess> found;
  const auto state = read_json_object(folder.state());
  for (const NamedProcess& one : state ? recorded_processes(*state) : std::vector<NamedProcess>()) {
    if (one.process.pid != ::getpid() && !spared.contains(one.process.pid) && is_alive(one.process))
      found.push_back(one);
  }
  const auto named = [&found](int pid) {
    return std::any_of(found.begin(), found.end(), [pid](const NamedProcess& one) { return one.process.pid == pid; });
  };
  for (const NamedProcess& one : find_marked(folder.dir(), spared)) {
    if (!named(one.process.pid)) found.push_back(one);
  }
  return found;
}

}  // namespace trainyard
