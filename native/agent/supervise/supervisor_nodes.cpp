// What a supervisor does only for a run of several hosts.
//
// A node is lost in the middle of a run:
// 1. Cluster::look_for_lost (cluster/cluster.cpp) notices: 15 s without a message, or 20 s after
//    its connection was closed. It writes the event node_lost.
// 2. Generation (generation.cpp) ends the ranks of the other nodes. The node itself, where it still
//    lives, ends its own ranks after 18 s (join/join.cpp).
// 3. Supervisor::run_generations (supervisor.cpp) fails the run, or writes `restarting` where a
//    restart is left.
// 4. wait_for_nodes, below, waits for the node, unless a spare node can take its place at once.
//    Where minNodes are left, on_nodes goes on without it.
// 5. The next generation resumes from the newest valid checkpoint.
// A node that has rebooted does not join again by itself: a client that follows the run sends
// run.join.
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "agent/join/join.h"
#include "agent/messages/joined.h"
#include "agent/ranks/rank_environment.h"
#include "agent/run/folder/checkpoints.h"
#include "agent/supervise/supervisor.h"
#include "agent/system/clock.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

/// Whether Slurm gave this job to the queue again, and nobody asked for it (sbatch's manual, OUTPUT
/// ENVIRONMENT VARIABLES).
bool slurm_began_again() {
  const char* count = std::getenv("SLURM_RESTART_COUNT");
  return count != nullptr && std::atoi(count) > 0;
}

constexpr double kSettleSeconds = 45;  // for the nodes to end what is left and to send their logs' last bytes
constexpr double kOwnJoinSeconds = 3;
constexpr double kMirrorSeconds = 60;  // for the last files to be copied
constexpr double kMirrorNowSeconds = 5;
constexpr double kEnoughSeconds = 30;  // for all nodes to be back, where fewer would do
/// For the ranks of a lost node to be gone: the node ends them 18 s after it last heard the head.
/// Without ranks on the head one of them may be rank 0, which writes where the next one will.
constexpr double kOldLeaderSeconds = 10;

/// "gpu2: it did not join: …", of the first of these nodes of which that is known: what a client
/// said.
std::optional<std::string> told_why(const RunFolder& folder, const std::vector<std::string>& missing) {
  for (const std::string& host : missing) {
    if (const auto told = read_json_object(folder.node(host, "not-joined.json"))) {
      return host + ": " + told->value("why", "");
    }
  }
  return std::nullopt;
}

/// The same by what an `agent join` wrote, which the head sees of itself and of nodes with its
/// disk.
std::optional<std::string> written_why(const RunFolder& folder, const std::vector<std::string>& missing) {
  for (const std::string& host : missing) {
    const auto record = read_join_record(folder, host);
    if (record && record->state != "joined" && !record->why.empty()) return host + ": " + record->why;
  }
  return std::nullopt;
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

bool Supervisor::all_nodes(bool first) const {
  if (first) return cluster_->missing().empty();
  return cluster_->head_is_here() && spec_.on_nodes(cluster_->present(), members_).ranks == spec_.ranks;
}

bool Supervisor::enough_nodes() const {
  return count_with_ranks(cluster_->present()) >= spec_.min_nodes && cluster_->head_is_here();
}

std::optional<GenerationResult> Supervisor::wait_for_nodes(bool first) {
  if (!cluster_) return std::nullopt;
  const double begun = monotonic_seconds();
  const double fewest = spec_.head_has_ranks() ? 0 : kOldLeaderSeconds;
  const auto ready = [&] {
    const bool is_settled = cluster_->missing().empty() || monotonic_seconds() - begun >= fewest;
    return all_nodes(first) && is_settled;
  };
  if (ready()) return prepare_nodes(first);
  const double longest = first ? spec_.start_timeout : std::max(spec_.node_return_timeout, fewest);
  const double with_enough = first ? longest : std::min(longest, kEnoughSeconds);
  journal_.event(
      "waiting_for_nodes",
      {{"hosts", cluster_->missing()},
       {"seconds", longest},
       {"fewer_after", !first && spec_.min_nodes < spec_.usual_nodes() ? Json(with_enough) : Json(nullptr)}});
  const auto patient = [&] { return monotonic_seconds() - begun < (!first && enough_nodes() ? with_enough : longest); };
  std::optional<std::string> told;
  while (!ready() && !stop_ && patient() && !told) {
    wait_and_look();
    if (first) told = told_why(folder_, cluster_->missing());
  }
  if (stop_) return stopped_while("waited for its nodes");
  GenerationResult result;
  if (ready() || (!first && enough_nodes())) return prepare_nodes(first);
  const std::vector<std::string> missing = cluster_->missing();
  const std::string advice = ". Check that it is up and reaches " + spec_.nodes.front().address +
                             " at the ports of \"portRange\". Both can be set in the profile: the address by "
                             "\"address\" of the host " +
                             spec_.nodes.front().host;
  if (told) {
    result.reason = "node " + *told + advice;
    return result;
  }
  const std::optional<std::string> known = written_why(folder_, missing);
  result.reason = nodes_text(missing) + " did not " + (first ? "join" : "come back") + " within " +
                  std::to_string(static_cast<int>(longest)) + " s" +
                  (first ? "" : " (\"nodeReturnTimeout\" of the profile)") + (known ? " (" + *known + ")" : "") +
                  advice;
  return result;
}

GenerationResult Supervisor::stopped_while(const std::string& doing) const {
  GenerationResult result;
  result.kind = GenerationResult::Kind::stopped;
  result.exit_code = stop_code(stop_->mode);
  result.reason = "stopped while it " + doing;
  return result;
}

std::optional<GenerationResult> Supervisor::prepare_nodes(bool first) {
  if (auto without = look_for_leader()) return without;
  return share_folder(first);
}

std::optional<GenerationResult> Supervisor::look_for_leader() const {
  const bool leaves_files = spec_.is_trainer || !spec_.share.empty();
  if (!leaves_files || spec_.head_has_ranks()) return std::nullopt;
  const std::optional<std::string> host = cluster_->blind_leader();
  if (!host) return std::nullopt;
  GenerationResult result;
  result.reason = "rank 0 would be on " + *host + ", which does not see the run folder " + folder_.dir() +
                  " of the head " + spec_.nodes.front().host +
                  ". A head without slots needs a workdir on a disk that the nodes with ranks share with it. Name such "
                  "a workdir in the profile, or give the head slots";
  return result;
}

RunSpec Supervisor::spec_of_generation() {
  RunSpec spec = cluster_ ? spec_.on_nodes(cluster_->present(), members_) : spec_;
  if (spec.is_trainer && (restarts_ > 0 || slurm_began_again())) spec.env[kRestartVariable] = "1";
  if (!cluster_) return spec;
  std::vector<std::string> members;
  for (const NodeSpec& node : spec.nodes) {
    if (node.has_ranks()) members.push_back(node.host);
  }
  const auto left_out = [](const std::vector<std::string>& some, const std::vector<std::string>& others) {
    std::vector<std::string> found;
    for (const std::string& host : some) {
      if (std::ranges::find(others, host) == others.end()) found.push_back(host);
    }
    return found;
  };
  const std::vector<std::string> by = left_out(members, members_);
  if (!members_.empty() && !by.empty()) {
    journal_.event("nodes_replaced", {{"hosts", left_out(members_, members)}, {"by", by}});
  }
  members_ = std::move(members);
  return spec;
}

void Supervisor::say_restarting(const GenerationResult& before, int restarts_left) {
  if (!cluster_) return;
  Json newest = nullptr;
  const Json listed = CheckpointListing(folder_, false).to_json();
  for (const Json& one : listed["checkpoints"]) {
    if (one["valid"] == true) newest = one["path"];
  }
  journal_.event("restarting",
                 {{"reason", json_or_null(before.reason)}, {"restarts_left", restarts_left}, {"checkpoint", newest}});
}

void Supervisor::describe_cluster() {
  state_.nodes = cluster_->nodes_json();
  state_.mirror = cluster_->mirror_json();
}

/// The mirror gets the last checkpoint, and how the run ended.
void Supervisor::finish_mirror() {
  MirrorSource* mirror = cluster_ ? cluster_->mirror() : nullptr;
  if (mirror == nullptr) return;
  const int64_t last = mirror->last_look();
  const double deadline = monotonic_seconds() + (stop_now() ? kMirrorNowSeconds : kMirrorSeconds);
  sigset_t ending;
  ::sigemptyset(&ending);
  for (const int number : {SIGTERM, SIGINT}) ::sigaddset(&ending, number);
  const timespec moment{0, 50'000'000};
  while (!mirror->is_done(last) && monotonic_seconds() < deadline) {
    if (::sigtimedwait(&ending, nullptr, &moment) > 0) return;
  }
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
