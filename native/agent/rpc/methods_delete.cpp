// RPC: run.delete on the node that supervised a run, run.forget on each other node of it.
#include <signal.h>

#include "agent/join/join.h"
#include "agent/messages/rpc_error.h"
#include "agent/rpc/node_sweep.h"
#include "agent/rpc/rpc.h"
#include "agent/run/folder/mirrored_files.h"
#include "agent/run/folder/run_content.h"
#include "agent/run/lease.h"
#include "agent/system/clock.h"
#include "agent/system/kill.h"
#include "agent/system/paths.h"
#include "agent/tensorboard/tensorboard.h"
#include "common/error.h"

namespace trainyard {

namespace {

constexpr double kLeaveSeconds = 5;

Others others_of(const Fields& params) { return params.boolean_or("everything", false) ? Others::go : Others::stay; }

Json json_of(const Remains& remains) {
  return {{"stays", remains.names}, {"stayCount", remains.count}, {"folderStays", remains.folder}};
}

/// The profile whose commands reach the run's processes.
std::string profile_of(const RunFolder& folder) {
  const auto run = read_json_object(folder.run());
  const Json profile = run ? run->value("profile", Json()) : Json();
  return profile.is_object() && profile.contains("name") && profile["name"].is_string()
             ? profile["name"].get<std::string>()
             : "local";
}

/// Lets what is about to end go (a supervisor that has just finished, a terminal that was closed),
/// ends the folder's TensorBoard, then removes what is the run's.
class DeleteJob : public Job {
 public:
  DeleteJob(const RunFolder& folder, Others others) : folder_(folder), others_(others), hold_(folder) {}
  std::optional<Json> step() override {
    if (!held_) held_ = hold_.step();
    if (!held_) return std::nullopt;
    if (!find_marked(folder_.dir(), {}).empty()) {
      if (monotonic_seconds() < deadline_) return std::nullopt;
      throw RpcError(RpcCode::bad_state, "processes of the run in " + folder_.dir() +
                                             " are left. Close its terminals, or end what is left with: trainyard "
                                             "kill-leftovers " +
                                             profile_of(folder_));
    }
    if (!tensorboard_) tensorboard_.emplace(folder_);
    if (!tensorboard_->step()) return std::nullopt;
    hold_.let_supervise();  // NFS keeps the folder of a file that is open; no launch gets in meanwhile
    return json_of(remove_run_content(folder_, others_));
  }

 private:
  RunFolder folder_;
  const Others others_;
  FolderHold hold_;
  bool held_ = false;
  std::optional<TensorboardStop> tensorboard_;
  double deadline_ = monotonic_seconds() + kLeaveSeconds;
};

Answer remove(const Fields& params, ServeContext&) {
  const RunFolder folder = existing_run_folder(expand_path(params.string("dir")));
  if (params.boolean_or("look", false)) return json_of(look_at_run_content(folder));
  return std::make_unique<DeleteJob>(folder, others_of(params));
}

/// Ends what this node still has of a run that is over, then removes what the run left here.
class ForgetJob : public Job {
 public:
  ForgetJob(const RunOnNode& run, Others others) : folder_(run.folder), others_(others), sweep_(run) {}

  std::optional<Json> step() override {
    if (!sweep_.step()) return std::nullopt;
    return json_of(remove_run_content(folder_, others_));
  }

 private:
  RunFolder folder_;
  const Others others_;
  NodeSweep sweep_;
};

Answer forget(const Fields& params, ServeContext&) {
  const RunOnNode run = run_on_node(params);
  const RunFolder& folder = run.folder;
  if (!folder_exists(folder.dir())) return json_of(Remains());
  const bool was_head = params.boolean_or("former", false) && head_of_run(folder) == run.host;
  if (file_exists(folder.run()) && !(was_head && !supervision(folder).is_active())) {
    throw RpcError(RpcCode::bad_state, folder.dir() + " is the folder of the run itself. Delete the run");
  }
  const auto record = read_join_record(folder, run.host);
  if (record && record->lives && record->state == "joined") {
    throw RpcError(RpcCode::bad_state, "this node takes part in the run in " + folder.dir() + ". Stop it first");
  }
  return std::make_unique<ForgetJob>(run, others_of(params));
}

}  // namespace

void add_delete_methods(MethodTable& table) {
  table["run.delete"] = remove;
  table["run.forget"] = forget;
}

}  // namespace trainyard
