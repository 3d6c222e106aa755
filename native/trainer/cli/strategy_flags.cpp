#include "trainer/cli/strategy_flags.h"

#include <string>
#include <vector>

namespace trainyard {

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
  command
      .add_option(
          "--allreduce", o.all_reduce,
          "of mirrored and multi-worker: ring, tree, hierarchical (inside each host, then among hosts), or auto "
          "(hierarchical where several hosts have several ranks, else the MPI library's own)")
      ->check(CLI::IsMember({"auto", "ring", "tree", "hierarchical"}))
      ->capture_default_str();
  command
      .add_option("--servers", o.servers,
                  "of parameter-server: how many of the ranks keep variables, the last ones of each host in turn (left "
                  "out: 1)")
      ->check(CLI::PositiveNumber);
}

}  // namespace trainyard
