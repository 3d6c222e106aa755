// RPC: mirror.list and mirror.adopt, on a node that keeps a copy of a run's folder.
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "agent/join/join.h"
#include "agent/messages/rpc_error.h"
#include "agent/rpc/describe_run.h"
#include "agent/rpc/rpc.h"
#include "agent/run/adopt_mirror.h"
#include "agent/run/folder/mirrored_files.h"
#include "agent/run/lease.h"
#include "agent/system/clock.h"
#include "agent/system/kill.h"
#include "agent/system/paths.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr double kKillSeconds = 15;
constexpr size_t kMostListed = 6 << 20;  // bytes of an answer; older runs beyond it are left out

Answer list(const Fields& params, ServeContext&) {
  std::vector<std::string> dirs;
  std::error_code failed;
  const std::string runs = expand_path(params.string("workdir")) + "/runs";
  for (fs::directory_iterator entry(runs, failed), end; !failed && entry != end; entry.increment(failed)) {
    dirs.push_back(entry->path().string());
  }
  std::sort(dirs.rbegin(), dirs.rend());
  Json answer{{"runs", Json::array()}};
  size_t bytes = 0;
  for (const std::string& dir : dirs) {
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

/// Ends what is left of the run here, its `agent join` first: it looks for a head that is gone.
class AdoptJob : public Job {
 public:
  AdoptJob(const RunFolder& folder, std::string host)
      : folder_(folder), host_(std::move(host)), hold_(folder), sweep_([this] { return find(); }) {}

  std::optional<Json> step() override {
    if (!sweep_.step()) {
      if (monotonic_seconds() < deadline_) return std::nullopt;
      throw RpcError(RpcCode::bad_state, "processes of the run in " + folder_.dir() +
                                             " cannot be ended here: " + std::to_string(sweep_.left().size()) +
                                             " are left. Look for them with: ps");
    }
    if (!hold_.step()) return std::nullopt;
    adopt_mirror(folder_, host_);
    return Json{{"dir", folder_.dir()}, {"adopted", true}, {"shared", false}};
  }

 private:
  std::vector<NamedProcess> find() const {
    std::vector<NamedProcess> all = find_marked(folder_.dir(), {});
    const auto record = read_join_record(folder_, host_);
    if (record && record->lives) all.push_back({record->process, "join"});
    return all;
  }

  RunFolder folder_;
  std::string host_;
  FolderHold hold_;
  Sweep sweep_;
  double deadline_ = monotonic_seconds() + kKillSeconds;
};

Answer adopt(const Fields& params, ServeContext&) {
  const std::string id = params.string("id"), host = params.string("host");
  if (!is_run_id(id) || !is_run_id(host)) throw FieldError("params.id and params.host must be plain names");
  const RunFolder folder(expand_path(params.string("workdir")) + "/runs/" + id);
  if (!file_exists(mirror_note(folder))) {
    if (file_exists(folder.run())) {
      return Json{{"dir", folder.dir()}, {"adopted", false}, {"shared", disk_of(folder.dir()) == Disk::shared}};
    }
    throw RpcError(RpcCode::not_found, "this node keeps no copy of the run " + id + ". Name the node that does");
  }
  const auto record = read_join_record(folder, host);
  if (record && record->lives && record->state == "joined") {
    throw RpcError(RpcCode::bad_state,
                   "the head of the run " + id + " is there: this node hears it. Stop the run first");
  }
  if (record && record->lives && record->state == "over") {
    throw RpcError(
        RpcCode::bad_state,
        "the head of the run " + id + " is there: the last files of the run are still copied. Try again in a minute");
  }
  return std::make_unique<AdoptJob>(folder, host);
}

}  // namespace

void add_mirror_methods(MethodTable& table) {
  table["mirror.list"] = list;
  table["mirror.adopt"] = adopt;
}

}  // namespace trainyard
