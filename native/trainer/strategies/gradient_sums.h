// Where the workers' gradients are summed: on their hosts by MPI, or between their GPUs by NCCL.
#pragma once
#include <string>
#include <vector>

#include "trainer/strategies/team.h"

namespace trainyard {

struct GradientSums {
  std::string comm = "auto";  ///< --comm
  std::string device = "cpu";
  std::string gpu;  ///< of this worker: the address of its GPU on its host; "" where the device is none
};

/// Throws Error(Exit::usage) where --comm cannot be had whatever the ranks are.
void check_comm(const GradientSums& wanted);

/// Whether NCCL sums. gpus: of each worker, "HOST ADDRESS". `auto`: where there are several
/// workers, each with a GPU of its own, that keep all variables. Throws Error(Exit::usage) where
/// `nccl` cannot be had, naming what is in the way.
bool use_nccl(const GradientSums& wanted, const std::string& strategy, const std::vector<std::string>& gpus);

/// The same, asked by all workers of a team together.
bool use_nccl(const GradientSums& wanted, const Team& team);

/// NCCL's word for an algorithm of --allreduce ("" for auto: its own choice). Inside a host its
/// trees are chains, so they are `hierarchical` too.
std::string nccl_algorithm(const std::string& all_reduce);

}  // namespace trainyard
