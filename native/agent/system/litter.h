// Files that MPI programs leave behind when they are killed: shared memory, and the proxy's
// description of the machine.
#pragma once
#include <string>
#include <vector>

namespace trainyard {

struct LitterPlaces {
  std::string shared_memory = "/dev/shm";
  std::string temporary = "/tmp";
  double youngest = 60;  ///< seconds; what is newer may belong to a program that is just starting
};

/// Removes this user's own files there that no living process uses, nor may have made; the paths
/// that went.
std::vector<std::string> remove_litter(const LitterPlaces& places = {});

}  // namespace trainyard
