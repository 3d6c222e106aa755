#include "trainer/cli/flags/strategy_flags.h"

#include <string>
#include <vector>

#include "trainer/cli/flags/numbers.h"
namespace trainyard {

void add_comm_flag(CLI::App& command, std::string& comm) {
  command
      .add_option("--comm", comm,
                  "how ranks talk: mpi; nccl, which sums gradients between GPUs, one of its own for every rank, and "
                  "leaves the rest to MPI; none, each for itself; or auto, which under mpiexec is nccl where the ranks "
                  "have GPUs of their own, else mpi")
      ->check(CLI::IsMember({"auto", "mpi", "nccl", "none"}))
      ->capture_default_str();
}

void add_all_reduce_flag(CLI::App& command, std::string& all_reduce) {
  command
      .add_option(
          "--allreduce", all_reduce,
          "of mirrored and multi-worker: ring, tree, hierarchical (inside each host, then among hosts), or auto "
          "(hierarchical where several hosts have several ranks, else the MPI library's own; NCCL's own where that "
          "sums, whose trees are hierarchical)")
      ->check(CLI::IsMember({"auto", "ring", "tree", "hierarchical"}))
      ->capture_default_str();
}

void add_gradient_type_flag(CLI::App& command, std::string& gradient_type) {
  command
      .add_option("--gradient-type", gradient_type,
                  "of mirrored and multi-worker: gradients travel between ranks as fp32, or as bf16 in half the bytes, "
                  "rounded; each rank adds in fp32")
      ->check(CLI::IsMember(sum_type_names()))
      ->capture_default_str();
}

void add_strategy_flags(CLI::App& command, StrategyOptions& o) {
  std::vector<std::string> kinds = strategy_names();
  kinds.insert(kinds.begin(), "auto");
  command
      .add_option("--strategy", o.kind,
                  "mirrored (one host) and multi-worker: every rank keeps all variables; central-storage: rank 0 "
                  "keeps them and sends copies; parameter-server: --servers of the ranks keep a part each and train "
                  "nothing; parameter-server-async: the same, and no worker waits for another; auto: mirrored or "
                  "multi-worker, by the hosts")
      ->check(CLI::IsMember(kinds))
      ->capture_default_str();
  add_all_reduce_flag(command, o.all_reduce);
  add_gradient_type_flag(command, o.gradient_type);
  command
      .add_option("--bucket-size", o.bucket_mib,
                  "MiB of gradients that are sent off together while the backward pass goes on; smaller ones start "
                  "earlier, larger ones wait less often. Not with servers")
      ->transform(number(0.0625, 1024))
      ->capture_default_str();
  command
      .add_option("--servers", o.servers,
                  "of parameter-server: how many of the ranks keep variables, the last ones of each host in turn (left "
                  "out: 1)")
      ->transform(whole_number(1, 65536));
}

}  // namespace trainyard
