// What a worker needs before its gradients can be summed where --comm says.
#pragma once
#include <string>

#include "trainer/strategies/team.h"

namespace trainyard {

struct WorkerSums {
  std::string comm = "auto";  ///< --comm
  std::string device = "cpu";
  std::string all_reduce = "auto";  ///< --allreduce
};

/// Whether GPUs sum by NCCL, which is loaded then, with all_reduce for its algorithm unless
/// NCCL_ALGO says another. Called by all workers of a team. Throws Error(Exit::usage) as use_nccl,
/// Error(Exit::device) where NCCL or this worker's GPU is missing.
bool set_up_sums(const WorkerSums& wanted, const Team& team);

}  // namespace trainyard
