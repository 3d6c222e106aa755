// The folder that every node gets from the head before each generation of an own program: its
// checkpoints, so that all ranks go on from the same one without a disk that they share.
#include "agent/run/folder/shared_files.h"
#include "agent/supervise/supervisor.h"
#include "agent/system/clock.h"
#include "common/error.h"

namespace trainyard {

namespace {

constexpr double kQuietSeconds = 1;  // a longer copy has the event `sharing` while it lasts

}  // namespace

std::optional<GenerationResult> Supervisor::share_folder(bool first) {
  if (spec_.share.empty()) return std::nullopt;
  GenerationResult failed;
  const std::string where = "the shared folder '" + spec_.share + "' could not be copied";
  try {
    if (state_.generation == 1 && first && list_shared(folder_, spec_.share).empty()) return std::nullopt;
  } catch (const Error& error) {
    failed.reason = where + ": " + error.what();
    return failed;
  }
  const double begun = monotonic_seconds();
  const auto members = [this] { return spec_.on_nodes(cluster_->present(), members_).nodes; };
  const std::vector<NodeSpec> before = members();
  const std::vector<std::string> hosts = cluster_->without_disk(before);
  if (hosts.empty()) return std::nullopt;
  cluster_->begin_share(hosts);
  bool told = false;
  ShareState state = cluster_->share_state();
  for (; !state.done && !state.lost && state.why.empty() && !stop_; state = cluster_->share_state()) {
    wait_and_look();
    if (told || monotonic_seconds() - begun < kQuietSeconds) continue;
    told = true;
    journal_.event("sharing", {{"folder", spec_.share}, {"hosts", hosts}});
  }
  cluster_->end_share();
  if (stop_) return stopped_while("copied the shared folder to its nodes");
  if (!state.why.empty()) {
    failed.reason = where + " to " + state.why;
    return failed;
  }
  // A node that came back meanwhile would have ranks too, and one that is gone would not.
  if (state.lost || members() != before) return wait_for_nodes(first);
  if (told || state.files > 0) {
    journal_.event("shared", {{"folder", spec_.share},
                              {"hosts", hosts},
                              {"files", state.files},
                              {"bytes", state.bytes},
                              {"seconds", monotonic_seconds() - begun}});
  }
  return std::nullopt;
}

}  // namespace trainyard
