// The folder that every node gets from the head before each generation of an own program: its
// checkpoints, so that all ranks go on from the same one without a disk that they share.
#include "agent/run/folder/shared_files.h"
#include "agent/supervise/supervisor.h"
#include "agent/system/clock.h"
#include "common/error.h"

namespace trainyard {

namespace {

constexpr double kQuietSeconds = 1;  // a copy that takes longer is told of while it lasts

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
  const auto members = [this] { return cluster_->without_disk(spec_.on_nodes(cluster_->present(), members_).nodes); };
  bool told = false;
  ShareState state;
  std::vector<std::string> hosts = members();
  for (bool same = false; !same && !hosts.empty();) {
    cluster_->begin_share(hosts);
    for (state = cluster_->share_state(); !state.done && !state.lost && state.why.empty() && !stop_;) {
      wait_and_look();
      state = cluster_->share_state();
      if (told || monotonic_seconds() - begun < kQuietSeconds) continue;
      told = true;
      journal_.event("sharing", {{"folder", spec_.share}, {"hosts", hosts}});
    }
    if (stop_ || !state.done) break;
    // A node that came back meanwhile will have ranks too.
    const std::vector<std::string> now = members();
    same = now == hosts;
    hosts = now;
  }
  cluster_->end_share();
  if (hosts.empty()) return std::nullopt;
  if (stop_) return stopped_while("copied the shared folder to its nodes");
  if (state.lost) return wait_for_nodes(first);
  if (!state.why.empty()) {
    failed.reason = where + " to " + state.why;
    return failed;
  }
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
