// What a supervisor does only for a run of several hosts.
#include <cstdio>

#include "agent/checkpoints.h"
#include "agent/kill.h"
#include "agent/supervisor.h"
#include "common/error.h"

namespace trainyard {

namespace {

constexpr double kSettleSeconds = 45;  // for the nodes to end what is left and to send their logs' last bytes
constexpr double kOwnJoinSeconds = 3;

std::string joined_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::optional<std::string> Supervisor::open_cluster() {
  if (!spec_.spans_hosts()) return std::nullopt;
  try {
    cluster_ = std::make_unique<Cluster>(folder_, spec_, journal_);
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

std::optional<GenerationResult> Supervisor::wait_for_nodes(double seconds, bool all) {
  if (!cluster_ || cluster_->missing().empty()) return std::nullopt;
  journal_.event("waiting_for_nodes", {{"hosts", cluster_->missing()}});
  const double deadline = monotonic_seconds() + seconds;
  while (!cluster_->missing().empty() && !stop_ && monotonic_seconds() < deadline) wait_and_look();
  const std::vector<std::string> missing = cluster_->missing();
  GenerationResult result;
  if (stop_) {
    result.kind = GenerationResult::Kind::stopped;
    result.exit_code = stop_now() ? 128 + 9 : 75;
    result.reason = "stopped while it waited for its nodes";
    return result;
  }
  const bool enough = static_cast<int>(cluster_->present().size()) >= spec_.min_nodes && cluster_->head_is_here();
  if (missing.empty() || (!all && enough)) return std::nullopt;
  result.reason = (missing.size() == 1 ? "node " : "nodes ") + joined_text(missing) + " did not " +
                  (all ? "join" : "come back") + " within " + std::to_string(static_cast<int>(seconds)) + " s" +
                  (all ? " (startTimeout)" : "") + ". Check that it is up and reaches " + spec_.nodes.front().address +
                  " at the ports of portRange";
  return result;
}

void Supervisor::say_restarting(const GenerationResult& before, int restarts_left) {
  if (!cluster_) return;
  Json newest = nullptr;
  const Json listed = CheckpointListing(folder_, false).to_json();
  for (const Json& one : listed["checkpoints"]) {
    if (one["valid"] == true) newest = one["path"];
  }
  journal_.event("restarting", {{"reason", before.reason ? Json(*before.reason) : Json(nullptr)},
                                {"restarts_left", restarts_left},
                                {"checkpoint", newest}});
}

void Supervisor::settle_nodes(bool over) {
  if (!cluster_) return;
  cluster_->settle(over);
  double deadline = monotonic_seconds() + kSettleSeconds;
  while (!cluster_->settled() && monotonic_seconds() < deadline) wait_and_look();
  if (!over) return;
  for (const std::string& line : cluster_->left()) std::fprintf(stderr, "agent: warning: %s\n", line.c_str());
  const std::optional<ProcessId> own = cluster_->own_join();
  deadline = monotonic_seconds() + kOwnJoinSeconds;
  while (own && is_alive(*own) && monotonic_seconds() < deadline) wait_and_look();
}

}  // namespace trainyard
