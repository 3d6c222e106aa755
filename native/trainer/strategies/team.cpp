#include "trainer/strategies/team.h"

#include <algorithm>
#include <set>

#include "common/error.h"
#include "common/process.h"
#include "trainer/strategies/central_storage.h"
#include "trainer/strategies/mirrored.h"
#include "trainer/strategies/parameter_server/parameter_server.h"
#include "trainer/strategies/parameter_server/parameter_server_async.h"

namespace trainyard {

std::vector<std::string> strategy_names() {
  return {"mirrored", "multi-worker", "central-storage", "parameter-server", "parameter-server-async"};
}

bool has_servers(const std::string& kind) { return kind.starts_with("parameter-server"); }

bool is_asynchronous(const std::string& kind) { return kind == "parameter-server-async"; }

int server_count(const StrategyOptions& options) {
  return has_servers(options.kind) ? std::max(1, options.servers) : 0;
}

std::vector<bool> server_ranks(const std::vector<std::string>& hosts, int servers) {
  const int ranks = static_cast<int>(hosts.size());
  if (servers >= ranks) {
    throw Error(Exit::usage, "--servers " + std::to_string(servers) + " leaves none of " + std::to_string(ranks) +
                                 (ranks == 1 ? " rank" : " ranks") +
                                 " to train. Start more ranks (workers and servers together), or use fewer servers");
  }
  std::vector<std::string> names;  // in order of their first rank
  for (const std::string& host : hosts) {
    if (std::find(names.begin(), names.end(), host) == names.end()) names.push_back(host);
  }
  std::vector<bool> is_server(hosts.size(), false);
  // A server a host and round, so that no host has two before each that can has one.
  for (int left = servers; left > 0;) {
    for (const std::string& name : names) {
      if (left == 0) break;
      for (size_t r = hosts.size() - 1; r > 0; --r) {
        if (hosts[r] != name || is_server[r]) continue;
        is_server[r] = true;
        --left;
        break;
      }
    }
  }
  return is_server;
}

Team::Team(const StrategyOptions& options, Communicator& world)
    : world_(world), hosts_(world.gather(host_name())), is_server_(hosts_.size(), false), strategy_(options.kind) {
  const bool one_host = std::set<std::string>(hosts_.begin(), hosts_.end()).size() == 1;
  if (strategy_ == "auto") strategy_ = one_host ? "mirrored" : "multi-worker";
  if (strategy_ == "mirrored" && !one_host) {
    throw Error(Exit::usage, "--strategy mirrored is for the ranks of one host, and these run on " + hosts_.front() +
                                 " and others. Use --strategy multi-worker");
  }
  const int servers = server_count(options);
  if (servers > 0) {
    is_server_ = server_ranks(hosts_, servers);
    peers_ = world.part(serves() ? 1 : 0);
  } else if (strategy_ != "central-storage") {
    all_reduce_ = world.choose_all_reduce(options.all_reduce, hosts_, sum_type_of(options.gradient_type));
  }
}

std::vector<int> Team::ranks(bool servers) const {
  std::vector<int> found;
  for (size_t r = 0; r < is_server_.size(); ++r) {
    if (is_server_[r] == servers) found.push_back(static_cast<int>(r));
  }
  return found;
}

StrategyMaker Team::maker() const {
  if (strategy_ == "central-storage") return make_central_storage;
  if (!has_servers(strategy_)) return make_mirrored;
  const auto make = is_asynchronous(strategy_) ? make_parameter_server_async : make_parameter_server;
  return [this, make](Communicator& workers, const Variables& variables, const OptimizerOptions& optimizer) {
    return make(*this, workers, variables, optimizer);
  };
}

}  // namespace trainyard
