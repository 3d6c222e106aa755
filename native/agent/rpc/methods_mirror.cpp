// RPC: mirror.list and mirror.adopt, on a node that keeps a copy of a run's folder.
#include "agent/join/join.h"
#include "agent/messages/rpc_error.h"
#include "agent/rpc/describe_run.h"
#include "agent/rpc/node_sweep.h"
#include "agent/rpc/rpc.h"
#include "agent/run/adopt_mirror.h"
#include "agent/run/folder/mirrored_files.h"
#include "agent/run/lease.h"
#include "agent/system/paths.h"

namespace trainyard {

namespace {

constexpr size_t kMostListed = 6 << 20;  // bytes of an answer; older runs beyond it are left out

Answer list(const Fields& params, ServeContext&) {
  Json answer{{"runs", Json::array()}};
  size_t bytes = 0;
  for (const std::string& dir : folders_in(expand_path(params.string("workdir")) + "/runs")) {
    const RunFolder folder(dir), mirror(mirror_folder(folder));
    const auto note = read_json_object(mirror_note(folder));
    if (!note || !file_exists(mirror.run())) continue;
    Json run = describe_run(mirror);
    run["dir"] = folder.dir();
    run["time"] = Fields(*note, "mirror.json").number_or("time", 0, 0, 1e12);
    bytes += to_line(run).size();
    if (bytes > kMostListed) break;
    answer["runs"].push_back(std::move(run));
  }
  return answer;
}

/// Ends what is left of the run here: its `agent join` looks for a head that is gone.
class AdoptJob : public Job {
 public:
  explicit AdoptJob(const RunOnNode& run) : run_(run), hold_(run.folder), sweep_(run) {}

  std::optional<Json> step() override {
    if (!sweep_.step() || !hold_.step()) return std::nullopt;
    adopt_mirror(run_.folder, run_.host);
    return Json{{"dir", run_.folder.dir()}, {"adopted", true}, {"shared", false}};
  }

 private:
  RunOnNode run_;
  FolderHold hold_;
  NodeSweep sweep_;
};

Answer adopt(const Fields& params, ServeContext&) {
  const RunOnNode run = run_on_node(params);
  const RunFolder& folder = run.folder;
  const std::string id = params.string("id");
  if (!file_exists(mirror_note(folder))) {
    if (file_exists(folder.run())) {
      return Json{{"dir", folder.dir()}, {"adopted", false}, {"shared", disk_of(folder.dir()) == Disk::shared}};
    }
    throw RpcError(RpcCode::not_found, "this node keeps no copy of the run " + id + ". Name the node that does");
  }
  const auto record = read_join_record(folder, run.host);
  if (record && record->lives && record->state == "joined") {
    throw RpcError(RpcCode::bad_state,
                   "the head of the run " + id + " is there: this node hears it. Stop the run first");
  }
  if (record && record->lives && record->state == "over") {
    throw RpcError(
        RpcCode::bad_state,
        "the head of the run " + id + " is there: the last files of the run are still copied. Try again in a minute");
  }
  return std::make_unique<AdoptJob>(run);
}

}  // namespace

void add_mirror_methods(MethodTable& table) {
  table["mirror.list"] = list;
  table["mirror.adopt"] = adopt;
}

}  // namespace trainyard
