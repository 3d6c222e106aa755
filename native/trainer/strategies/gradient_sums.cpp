#include "trainer/strategies/gradient_sums.h"

#include <map>

#include "common/error.h"
#include "common/process.h"

namespace trainyard {
namespace {

/// The first two workers that share a GPU, as a sentence; "" where none do.
std::string sharing(const std::vector<std::string>& gpus) {
  std::map<std::string, size_t> first;
  for (size_t r = 0; r < gpus.size(); ++r) {
    const auto [other, is_new] = first.emplace(gpus[r], r);
    if (is_new) continue;
    const size_t space = gpus[r].find(' ');
    return "ranks " + std::to_string(other->second) + " and " + std::to_string(r) + " on " + gpus[r].substr(0, space) +
           " share the GPU at " + gpus[r].substr(space + 1);
  }
  return "";
}

}  // namespace

void check_comm(const GradientSums& wanted) {
  if (wanted.comm == "nccl" && wanted.device != "cuda") {
    throw Error(Exit::usage, "--comm nccl sums in the memory of GPUs, and --device " + wanted.device +
                                 " has none. Use --comm mpi or auto, or --device cuda");
  }
}

bool use_nccl(const GradientSums& wanted, const std::string& strategy, const std::vector<std::string>& gpus) {
  check_comm(wanted);
  const bool demanded = wanted.comm == "nccl";
  if (!demanded && wanted.comm != "auto") return false;
  if (gpus.size() < 2 || wanted.device != "cuda") return false;
  if (strategy != "mirrored" && strategy != "multi-worker") {
    if (!demanded) return false;
    throw Error(Exit::usage, "--comm nccl is for workers that keep all variables, and with --strategy " + strategy +
                                 " gradients go to where those are kept. Use --comm mpi or auto, or --strategy auto");
  }
  const std::string shared = sharing(gpus);
  if (demanded && !shared.empty()) {
    throw Error(Exit::usage, "--comm nccl needs a GPU of its own for every rank, but " + shared +
                                 ". Start no more ranks than there are GPUs, or use --comm mpi");
  }
  return shared.empty();
}

bool use_nccl(const GradientSums& wanted, const Team& team) {
  return use_nccl(wanted, team.strategy(), team.peers().gather(host_name() + " " + wanted.gpu));
}

std::string nccl_algorithm(const std::string& all_reduce) {
  if (all_reduce == "ring") return "Ring";
  return all_reduce == "tree" || all_reduce == "hierarchical" ? "Tree" : "";
}

}  // namespace trainyard
