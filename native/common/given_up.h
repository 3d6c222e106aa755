// How the supervisor says to the ranks of a training that one of them is lost, or hangs: what they
// wait for will not come (docs/contracts/events.md, Given up).
#pragma once
#include <string>

namespace trainyard {

/// The file that is there from then on.
inline std::string given_up_file(const std::string& run_dir, int generation) {
  return run_dir + "/processes/gen-" + std::to_string(generation) + "-given-up";
}

}  // namespace trainyard
