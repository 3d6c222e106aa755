// Which ranks' devices sum with each other.
#pragma once
#include <array>
#include <string>

namespace trainyard {

/// Tells a group from all others: made by one of its ranks, given to the rest.
using DeviceGroupId = std::array<char, 128>;

struct DeviceGroup {
  DeviceGroupId id{};
  int rank = 0;
  int world = 1;
  bool narrow_sums = false;  ///< numbers to be summed travel as bf16
  std::string who;           ///< this rank to a person: "rank 1 of 4 on node7"
  double deadline_s = 600;   ///< how long others may be waited for; a slow disk's checkpoint must fit
  double giving_up_s = 20;   ///< how long giving up may take before the process is ended
};

}  // namespace trainyard
