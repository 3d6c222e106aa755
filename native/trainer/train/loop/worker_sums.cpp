#include "trainer/train/loop/worker_sums.h"

#include <cstdio>
#include <cstdlib>

#include "trainer/ops/cuda_library.h"
#include "trainer/strategies/gradient_sums.h"

namespace trainyard {

bool set_up_sums(const WorkerSums& wanted, const Team& team) {
  GradientSums sums{.comm = wanted.comm, .device = wanted.device, .gpu = ""};
  check_comm(sums);
  if (wanted.device != "cuda" || team.peers().world() == 1) return false;
  const auto library = load_cuda_library();
  const int index = own_cuda_device(team.peers().local_rank());
  require_cuda_device(*library, index);
  sums.gpu = library->devices().at(static_cast<size_t>(index)).pci;
  if (!use_nccl(sums, team)) return false;
  if (const std::string algorithm = nccl_algorithm(wanted.all_reduce); !algorithm.empty()) {
    ::setenv("NCCL_ALGO", ("allreduce:" + algorithm).c_str(), 0);
  }
  const std::string version = load_nccl(*library);
  if (team.peers().rank() == 0)
    std::fprintf(stderr, "trainer: note: gradients are summed by NCCL %s\n", version.c_str());
  return true;
}

}  // namespace trainyard
