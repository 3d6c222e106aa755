#include "trainer/train/log/servers_log.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

void add_pushed(const PushedFigures& pushed, double seconds, nlohmann::json& fields) {
  fields["images"] = std::llround(pushed.images);
  fields["loss"] = share(pushed.loss, pushed.images);
  fields["top1"] = share(pushed.top1, pushed.images);
  fields["images_per_sec"] = share(pushed.images, seconds);
}

nlohmann::json ServersLog::object(const ServerFigures& figures) const {
  const auto rank = static_cast<size_t>(figures.rank);
  return {{"rank", rank},
          {"host", hosts_[rank]},
          {"parameters", std::llround(figures.parameters)},
          {"busy", std::clamp(share(figures.busy, figures.seconds), 0.0, 1.0)},
          {"updates", std::llround(figures.updates)},
          {"staleness", share(figures.staleness, figures.updates)},
          {"staleness_max", std::llround(figures.staleness_max)}};
}

void ServersLog::add(const std::vector<ServerFigures>& now, nlohmann::json& fields) {
  if (now.empty()) return;
  double updates = 0;
  double staleness = 0;
  double busiest = 0;
  nlohmann::json servers = nlohmann::json::array();
  for (size_t s = 0; s < now.size(); ++s) {
    ServerFigures since = now[s];  // the largest staleness stays that of the whole run
    if (s < last_.size()) {
      since.busy -= last_[s].busy;
      since.seconds -= last_[s].seconds;
      since.updates -= last_[s].updates;
      since.staleness -= last_[s].staleness;
    }
    updates += since.updates;
    staleness += since.staleness;
    servers.push_back(object(since));
    busiest = std::max(busiest, servers.back().at("busy").get<double>());
  }
  fields["servers"] = std::move(servers);
  fields["server_busy"] = busiest;
  fields["staleness"] = share(staleness, updates);
  last_ = now;
}

void ServersLog::add_totals(nlohmann::json& fields) const {
  if (last_.empty()) return;
  nlohmann::json servers = nlohmann::json::array();
  for (const ServerFigures& one : last_) servers.push_back(object(one));
  fields["servers"] = std::move(servers);
}

}  // namespace trainyard
