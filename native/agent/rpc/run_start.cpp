#include "agent/rpc/run_start.h"

#include <signal.h>
#include <sys/stat.h>

#include <cerrno>

#include "agent/messages/rpc_error.h"
#include "agent/run/folder/run_about.h"
#include "agent/run/folder/run_content.h"
#include "agent/run/folder/run_spec.h"
#include "agent/run/journal.h"
#include "agent/run/lease.h"
#include "agent/run/run_state.h"
#include "agent/system/clock.h"
#include "agent/system/kill.h"
#include "agent/system/paths.h"
#include "agent/system/spawn.h"
#include "agent/system/tail.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr double kSupervisorSeconds = 25;  // longer than it may wait for a dead supervisor's guard

/// Makes <workdir>/runs/<id>, with a new id when none was given.
RunFolder make_run_folder(const std::string& workdir, RunSpec& spec) {
  const std::string runs = workdir + "/runs";
  make_private_folders(runs);
  const bool id_given = !spec.id.empty();
  for (int attempt = 0;; ++attempt) {
    if (!id_given) spec.id = make_run_id(run_label(spec));
    const std::string dir = runs + "/" + spec.id;
    if (::mkdir(dir.c_str(), 0700) == 0) {
      mark_as_made(dir);
      return RunFolder(dir);
    }
    if (errno != EEXIST) throw file_error("create folder", dir);
    if (id_given)
      throw RpcError(RpcCode::bad_state, "a run " + spec.id + " exists already. Name its folder as dir to continue it");
    if (attempt == 20) throw file_error("create folder", dir);
  }
}

/// The folder that the client named: new, or that of an earlier run, which is then continued.
RunFolder take_run_folder(const std::string& dir, RunSpec& spec, Json& json) {
  make_marked_folder(dir);
  const RunFolder folder(dir);
  const auto before = read_json_object(folder.run());
  if (before && spec.id.empty() && before->contains("id") && (*before)["id"].is_string()) {
    spec.id = (*before)["id"].get<std::string>();
  }
  if (before && before->contains("created")) json["created"] = (*before)["created"];
  if (spec.id.empty()) spec.id = make_run_id(run_label(spec));
  return folder;
}

class StartRun : public Job {
 public:
  StartRun(const RunFolder& folder, std::string agent, Json run, Json about, GpuLocks gpus)
      : folder_(folder),
        agent_(std::move(agent)),
        run_(std::move(run)),
        about_(std::move(about)),
        gpus_(std::move(gpus)),
        hold_(folder) {}

  std::optional<Json> step() override {
    if (!started_) {
      if (hold_.step()) start();
      return std::nullopt;
    }
    const auto state = read_json_object(folder_.state());
    const auto named = state ? recorded_supervisor(*state) : std::nullopt;
    if (named && named->pid == supervisor_.pid) return Json{{"id", run_["id"]}, {"dir", folder_.dir()}};
    if (!is_alive(supervisor_)) {
      throw RpcError(RpcCode::bad_state, "the supervisor of " + folder_.dir() + " ended at once: " + last_words());
    }
    if (monotonic_seconds() >= deadline_) {
      signal_process(supervisor_, SIGKILL);  // the caller hears that nothing runs, and may start another
      throw RpcError(RpcCode::input_output,
                     "the supervisor of " + folder_.dir() + " did not begin within 25 s: " + last_words());
    }
    return std::nullopt;
  }

 private:
  void start() {
    const bool is_new = !file_exists(folder_.run());
    if (!about_.is_null()) write_about(folder_, about_);
    replace_file(folder_.run(), to_line(run_) + "\n");
    if (is_new) Journal(folder_.events()).event("created", {{"id", run_["id"]}});
    hold_.let_supervise();
    Command command;
    command.argv = {agent_, "supervise", "--run-dir", folder_.dir()};
    for (const std::string& word : gpus_.words()) command.argv.push_back(word);
    command.passed = gpus_.descriptors();
    command.env = clean_environment();
    if (run_.contains("queue")) command.env[kGpuLocksVariable] = gpu_locks_folder();  // it takes its locks itself
    command.cwd = folder_.dir();
    command.log = folder_.file("supervisor.log");
    supervisor_ = start_detached(command);
    gpus_ = GpuLocks();  // the supervisor has them
    deadline_ = monotonic_seconds() + kSupervisorSeconds;
    started_ = true;
  }

  std::string last_words() const {
    const auto lines = last_lines(folder_.file("supervisor.log"), 1);
    return lines.empty() ? "it said nothing" : lines.back();
  }

  RunFolder folder_;
  std::string agent_;
  Json run_;    ///< run.json, which is written once nobody else may supervise the folder
  Json about_;  ///< for about.json; null: what an earlier start or a person wrote there stays
  GpuLocks gpus_;
  FolderHold hold_;
  bool started_ = false;
  ProcessId supervisor_;
  double deadline_ = 0;
};

}  // namespace

std::unique_ptr<Job> start_run(const std::string& workdir, const Json& given, GpuLocks gpus) {
  Json json = given;
  RunSpec spec = parse_run_spec(json);
  if (const auto missing = missing_program(spec)) throw RpcError(RpcCode::not_found, *missing);
  if (const auto missing = missing_command(spec)) throw RpcError(RpcCode::bad_state, *missing);
  const auto dir = Fields(json, "spec").optional_string("dir");
  json.erase("created");
  const Json* given_about = Fields(json, "spec").find("about");
  Json about = given_about != nullptr ? parse_about(*given_about, "spec.about") : Json(nullptr);
  json.erase("about");
  if (spec.has_code && !(dir && folder_exists(expand_path(*dir) + "/code"))) {
    throw RpcError(RpcCode::not_found, "the run's folder holds no code. Put it there first");
  }
  const RunFolder folder =
      dir ? take_run_folder(expand_path(*dir), spec, json) : make_run_folder(expand_path(workdir), spec);
  json.erase("dir");
  Json run{{"version", 1}, {"id", spec.id}, {"created", now_seconds()}};
  for (const auto& [name, value] : json.items()) {
    if (name != "id") run[name] = value;
  }
  return std::make_unique<StartRun>(folder, spec.agent, std::move(run), std::move(about), std::move(gpus));
}

}  // namespace trainyard
