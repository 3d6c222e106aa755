// RPC: run.joining, run.join, leftovers.list, leftovers.kill.
#include <signal.h>

#include <filesystem>

#include "agent/join/join.h"
#include "agent/join/node_ranks.h"
#include "agent/messages/hmac.h"
#include "agent/messages/rpc_error.h"
#include "agent/rpc/rpc.h"
#include "agent/run/folder/run_content.h"
#include "agent/run/lease.h"
#include "agent/system/clock.h"
#include "agent/system/kill.h"
#include "agent/system/paths.h"
#include "agent/system/spawn.h"
#include "agent/system/tail.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr double kJoinSeconds = 30;
constexpr double kKillSeconds = 15;
constexpr int kLongestHost = 253;
constexpr size_t kLongestWhy = 4096;

Answer joining(const Fields& params, ServeContext&) {
  const RunFolder folder(expand_path(params.string("dir")));
  const auto state = read_json_object(folder.state());
  const auto join = read_json_object(folder.joining());
  if (!join) throw RpcError(RpcCode::not_found, "no nodes join the run in " + folder.dir() + ": it spans no hosts");
  if (!state || supervision(folder).kind != Supervision::Kind::here) {
    throw RpcError(RpcCode::bad_state, "nobody supervises the run in " + folder.dir() + ". Start it anew");
  }
  Json nodes = Json::array();
  for (const Json& node : state->value("nodes", Json::array())) {
    nodes.push_back({{"host", node.value("host", "")}, {"state", node.value("state", "")}});
  }
  return Json{{"port", join->value("port", 0)}, {"key", join->value("key", "")}, {"nodes", nodes}};
}

/// Ends an `agent join` of an earlier life of the run, starts one, and waits until the head has let
/// it in. `again`: one that lives is left alone, of whatever life of the run, which is an error.
class JoinJob : public Job {
 public:
  JoinJob(const RunFolder& folder, std::string host, std::string agent, Json spec, bool again, GpuLocks gpus)
      : folder_(folder),
        host_(std::move(host)),
        agent_(std::move(agent)),
        spec_(std::move(spec)),
        again_(again),
        gpus_(std::move(gpus)),
        deadline_(monotonic_seconds() + kJoinSeconds) {}

  std::optional<Json> step() override {
    const auto record = read_join_record(folder_, host_);
    if (!started_) {
      if (again_ && record && record->lives) {
        throw RpcError(RpcCode::bad_state, "`agent join` lives on this node and tries by itself. Leave it alone");
      }
      if (record && record->lives && !is_same()) {
        signal_process(record->process, SIGTERM);
        return wait("an `agent join` of an earlier run does not end");
      }
      if (!record || !record->lives) start();
      gpus_ = GpuLocks();  // `agent join` has them
      started_ = true;
      return std::nullopt;
    }
    if (record && record->lives && record->state == "joined") return Json{{"dir", folder_.dir()}};
    const bool ended = process_ && !is_alive(*process_);
    if (ended) throw RpcError(RpcCode::bad_state, "it did not join: " + why_it_ended(record));
    return wait(record ? record->why : "it said nothing");
  }

 private:
  bool is_same() const {
    const auto before = read_json_object(folder_.node(host_, "join.json"));
    return before && before->value("key", "") == spec_.value("key", "");
  }

  void start() {
    replace_file(folder_.node(host_, "join.json"), to_line(spec_) + "\n");
    Command command;
    command.argv = {agent_, "join", "--run-dir", folder_.dir(), "--host", host_};
    for (const std::string& word : gpus_.words()) command.argv.push_back(word);
    command.passed = gpus_.descriptors();
    command.env = clean_environment();
    command.env[kGpuLocksVariable] = gpu_locks_folder();  // of a run that waits it takes locks itself
    command.cwd = folder_.dir();
    command.log = folder_.node(host_, "join.log");
    process_ = start_detached(command);
  }

  std::optional<Json> wait(const std::string& why) const {
    if (monotonic_seconds() < deadline_) return std::nullopt;
    throw RpcError(RpcCode::input_output, "it did not join within 30 s: " + why);
  }

  std::string why_it_ended(const std::optional<JoinRecord>& record) const {
    if (record && !record->why.empty() && record->process.pid == process_->pid) return record->why;
    const auto lines = last_lines(folder_.node(host_, "join.log"), 1);
    return lines.empty() ? "it said nothing" : lines.back();
  }

  RunFolder folder_;
  std::string host_, agent_;
  Json spec_;
  bool again_;
  GpuLocks gpus_;
  double deadline_;
  bool started_ = false;
  std::optional<ProcessId> process_;
};

/// A client says why a node has not joined, which the node itself cannot tell the head.
Answer not_joined(const Fields& params, ServeContext&) {
  const RunFolder folder = existing_run_folder(expand_path(params.string("dir")));
  const std::string host = params.string("host"), why = params.string("why");
  std::error_code failed;
  if (!is_run_id(host) || !fs::is_directory(folder.file("nodes/" + host), failed)) {
    throw FieldError("params.host is no node of it");
  }
  if (why.empty() || why.size() > kLongestWhy) throw FieldError("params.why must have 1 to 4096 bytes");
  replace_file(folder.node(host, "not-joined.json"), to_line({{"why", why}}) + "\n");
  return Json::object();
}

const Json& object(const Fields& params, const char* name) {
  const Json* found = params.find(name);
  if (found == nullptr) throw FieldError(std::string("params.") + name + " is missing");
  return *found;
}

Answer join(const Fields& params, ServeContext& context) {
  const std::string id = params.string("id"), host = params.string("host"), key = params.string("key");
  if (!is_run_id(id) || !is_run_id(host)) throw FieldError("params.id and params.host must be plain names");
  if (!is_hex(key, 64)) throw FieldError("params.key must be 64 hexadecimal digits");
  const Fields head(object(params, "head"), "params.head"), paths(object(params, "paths"), "params.paths");
  const std::string agent = expand_path(paths.string("agent")), proxy = expand_path(paths.string("proxy"));
  const std::string trainer = expand_path(paths.string("trainer"));
  for (const std::string& path : {agent, proxy}) {
    if (!file_exists(path)) {
      throw RpcError(RpcCode::not_found, path + " does not exist. Prepare this node's runtime first");
    }
  }
  const std::string address = head.string("address");
  if (address.empty() || address.size() > kLongestHost) throw FieldError("params.head.address is none");

  const std::string dir = expand_path(params.string("workdir")) + "/runs/" + id;
  const bool again = params.boolean_or("again", false);
  if (again && !file_exists(RunFolder(dir).node(host, "join.json"))) {
    throw RpcError(RpcCode::not_found,
                   "this node has nothing of the run " + id + " in " + dir + ". Start the run anew to use it");
  }
  make_marked_folder(dir);
  make_private_folders(dir + "/nodes/" + host);
  const Json spec{{"address", address},
                  {"port", head.integer("port", 1, 65535)},
                  {"key", key},
                  {"paths", {{"agent", agent}, {"trainer", trainer}, {"proxy", proxy}}}};
  GpuLocks gpus = context.gpus.pass_on(params.optional_string("gpuLocks").value_or(""));
  return std::make_unique<JoinJob>(RunFolder(dir), host, agent, spec, again, std::move(gpus));
}

/// Those of this machine. `alone`: only those whose ranks were ended because the head is gone.
std::vector<NamedProcess> living_joins(const RunFolder& folder, bool alone = false) {
  std::vector<NamedProcess> joins;
  std::error_code failed;
  for (fs::directory_iterator entry(folder.file("nodes"), failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const auto record = read_join_record(folder, entry->path().filename().string());
    if (record && record->lives && (!alone || record->state == "alone")) joins.push_back({record->process, "join"});
  }
  return joins;
}

bool is_looked_after(const RunFolder& folder) {
  return supervision(folder).is_active() || living_joins(folder).size() > living_joins(folder, true).size();
}

std::string runs_folder(const std::string& workdir) { return canonical_path(expand_path(workdir)) + "/runs"; }

/// Every run of this node with processes, also an `agent join` whose head is gone. TensorBoard
/// carries no mark, since it outlives its run on purpose.
std::map<std::string, std::vector<NamedProcess>> leftovers(const std::string& workdir) {
  const std::string runs = runs_folder(workdir);
  std::map<std::string, std::vector<NamedProcess>> found = find_all_marked(runs);
  for (const std::string& dir : folders_in(runs)) {
    for (const NamedProcess& join : living_joins(RunFolder(dir), true)) found[dir].push_back(join);
  }
  return found;
}

Json json_of(const std::vector<NamedProcess>& processes) {
  Json list = Json::array();
  for (const NamedProcess& one : processes) list.push_back({{"pid", one.process.pid}, {"what", one.what}});
  return list;
}

Answer list_leftovers(const Fields& params, ServeContext&) {
  Json runs = Json::array();
  for (const auto& [dir, processes] : leftovers(params.string("workdir"))) {
    runs.push_back({{"dir", dir}, {"supervised", is_looked_after(RunFolder(dir))}, {"processes", json_of(processes)}});
  }
  return Json{{"runs", runs}};
}

class KillLeftovers : public Job {
 public:
  KillLeftovers(std::string workdir, bool all)
      : workdir_(std::move(workdir)), all_(all), sweep_([this] { return find(); }) {}

  std::optional<Json> step() override {
    if (!sweep_.step() && monotonic_seconds() < deadline_) return std::nullopt;
    return Json{{"killed", json_of(sweep_.killed())}, {"left", json_of(sweep_.left())}};
  }

 private:
  std::vector<NamedProcess> find() const {
    std::vector<NamedProcess> all;
    for (const auto& [dir, processes] : leftovers(workdir_)) {
      if (!all_ && is_looked_after(RunFolder(dir))) continue;
      all.insert(all.end(), processes.begin(), processes.end());
    }
    if (!all_) return all;
    // Whoever looks after a run would start its processes anew: last here, and so the first to be
    // signalled.
    for (const std::string& dir : folders_in(runs_folder(workdir_))) {
      const RunFolder folder(dir);
      const std::vector<NamedProcess> joins = living_joins(folder);
      all.insert(all.end(), joins.begin(), joins.end());
      const auto state = read_json_object(folder.state());
      if (state && supervision(folder).kind == Supervision::Kind::here) {
        all.push_back({*recorded_supervisor(*state), "supervisor"});
      }
    }
    return all;
  }

  std::string workdir_;
  bool all_;
  Sweep sweep_;
  double deadline_ = monotonic_seconds() + kKillSeconds;
};

Answer kill_leftovers(const Fields& params, ServeContext&) {
  return std::make_unique<KillLeftovers>(params.string("workdir"), params.boolean_or("all", false));
}

}  // namespace

void add_node_methods(MethodTable& table) {
  table["run.joining"] = joining;
  table["run.join"] = join;
  table["run.not_joined"] = not_joined;
  table["leftovers.list"] = list_leftovers;
  table["leftovers.kill"] = kill_leftovers;
}

}  // namespace trainyard
