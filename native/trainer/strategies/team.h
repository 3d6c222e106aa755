// Who does what in a run: which ranks train, which keep variables, and by which strategy.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "trainer/comm/communicator.h"
#include "trainer/strategies/strategy.h"

namespace trainyard {

constexpr double bytes_in_mib = 1048576.0;

/// What the command line says. `--help` shows the defaults.
struct StrategyOptions {
  std::string kind = "auto";  ///< auto or one of strategy_names()
  std::string all_reduce = "auto";
  std::string gradient_type = "fp32";
  double bucket_mib = static_cast<double>(usual_bucket_bytes) / bytes_in_mib;

  /// Of the gradients that are sent off together.
  size_t bucket_bytes() const { return static_cast<size_t>(bucket_mib * bytes_in_mib); }
  int servers = 0;  ///< 0: one where the strategy has servers
};

std::vector<std::string> strategy_names();
/// Whether some ranks do nothing but keep variables.
bool has_servers(const std::string& kind);
/// Whether workers take their steps without waiting for each other.
bool is_asynchronous(const std::string& kind);
/// How many ranks keep variables.
int server_count(const StrategyOptions& options);

/// Which of the ranks are servers: spread evenly over the hosts, the last ranks of each; never rank
/// 0. hosts: where each rank runs. Throws Error(Exit::usage) where no rank is left to train.
std::vector<bool> server_ranks(const std::vector<std::string>& hosts, int servers);

class Team {
 public:
  /// Called by every rank with the same options. Throws Error(Exit::usage) where these ranks cannot
  /// do that.
  Team(const StrategyOptions& options, Communicator& world);

  Communicator& world() const { return world_; }
  /// Those that train, talking to each other alone; on a server, the servers.
  Communicator& peers() const { return peers_ ? *peers_ : world_; }
  bool serves() const { return is_server_[static_cast<size_t>(world_.rank())]; }
  /// Ranks of the world that train, in order, and those that keep variables.
  std::vector<int> workers() const { return ranks(false); }
  std::vector<int> servers() const { return ranks(true); }
  /// Where each rank of the world runs.
  const std::vector<std::string>& hosts() const { return hosts_; }
  const std::string& strategy() const { return strategy_; }
  /// The algorithm in use, or "" where the strategy has none.
  const std::string& all_reduce() const { return all_reduce_; }
  /// Makes this worker's part. The team must outlive it.
  StrategyMaker maker() const;

 private:
  std::vector<int> ranks(bool servers) const;

  Communicator& world_;
  std::vector<std::string> hosts_;
  std::vector<bool> is_server_;
  std::unique_ptr<Communicator> peers_;  ///< nothing where all ranks train
  std::string strategy_;
  std::string all_reduce_;
};

}  // namespace trainyard
