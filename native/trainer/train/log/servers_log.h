// Parameter servers in metrics.jsonl: how busy each was, and how old the weights were that
// gradients were made with.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainer/strategies/report.h"

namespace trainyard {

/// Where workers do not wait for each other, a line also counts their `images`, and its loss, top1
/// and images_per_sec are all of theirs, not rank 0's.
void add_pushed(const PushedFigures& pushed, double seconds, nlohmann::json& fields);

class ServersLog {
 public:
  /// hosts: where each rank of the world runs.
  explicit ServersLog(const std::vector<std::string>& hosts) : hosts_(hosts) {}
  /// Adds what the servers did since the last call: `servers`, one object each; `server_busy`, the
  /// share of the busiest; and `staleness`, the mean over all updates. Nothing where there are no
  /// servers. now: since the run began.
  void add(const std::vector<ServerFigures>& now, nlohmann::json& fields);
  /// Adds `servers` over the whole run.
  void add_totals(nlohmann::json& fields) const;

 private:
  nlohmann::json object(const ServerFigures& figures) const;

  const std::vector<std::string>& hosts_;
  std::vector<ServerFigures> last_;
};

}  // namespace trainyard
