#include "agent/run_start.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "agent/journal.h"
#include "agent/kill.h"
#include "agent/paths.h"
#include "agent/rpc_error.h"
#include "agent/run_spec.h"
#include "agent/run_state.h"
#include "agent/spawn.h"
#include "agent/tail.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr double kSupervisorSeconds = 25;  // longer than it may wait for a dead supervisor's guard

/// Keeps other launches out of the folder until the supervisor holds its own lock.
Descriptor claim(const RunFolder& folder) {
  Descriptor fd(::open(folder.dir().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) throw file_error("open", folder.dir());
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw RpcError(RpcCode::bad_state, "another launch in " + folder.dir() + " is under way. Attach to that run");
  }
  return fd;  // where folders cannot be locked (some network file systems), the supervisor's lock alone decides
}

/// Makes <workdir>/runs/<id>, with a new id when none was given.
RunFolder make_run_folder(const std::string& workdir, RunSpec& spec) {
  const std::string runs = workdir + "/runs";
  make_private_folders(runs);
  const bool id_given = !spec.id.empty();
  for (int attempt = 0;; ++attempt) {
    if (!id_given) spec.id = make_run_id(run_label(spec));
    const std::string dir = runs + "/" + spec.id;
    if (::mkdir(dir.c_str(), 0700) == 0) return RunFolder(dir);
    if (errno != EEXIST) throw file_error("create folder", dir);
    if (id_given)
      throw RpcError(RpcCode::bad_state, "a run " + spec.id + " exists already. Name its folder as dir to continue it");
    if (attempt == 20) throw file_error("create folder", dir);
  }
}

/// The folder that the client named: new, or that of an earlier run, which is then continued.
RunFolder take_run_folder(const std::string& dir, RunSpec& spec, Json& json) {
  make_private_folders(dir);
  const RunFolder folder(dir);
  const auto state = read_json_object(folder.state());
  if (state && is_supervised(*state)) {
    throw RpcError(RpcCode::bad_state, "a run in " + folder.dir() + " is under way, supervised by process " +
                                           std::to_string(recorded_supervisor(*state)->pid) +
                                           ". Attach to it, or stop it first");
  }
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
  StartRun(const RunFolder& folder, const std::string& id, const std::string& agent, Descriptor claim)
      : folder_(folder), id_(id), claim_(std::move(claim)), deadline_(monotonic_seconds() + kSupervisorSeconds) {
    Command command;
    command.argv = {agent, "supervise", "--run-dir", folder.dir()};
    command.env = clean_environment();
    command.cwd = folder.dir();
    command.log = folder.file("supervisor.log");
    supervisor_ = start_detached(command);
  }

  std::optional<Json> step() override {
    const auto state = read_json_object(folder_.state());
    const auto named = state ? recorded_supervisor(*state) : std::nullopt;
    if (named && named->pid == supervisor_.pid) return Json{{"id", id_}, {"dir", folder_.dir()}};
    if (!is_alive(supervisor_)) {
      throw RpcError(RpcCode::bad_state, "the supervisor of " + folder_.dir() + " ended at once: " + last_words());
    }
    if (monotonic_seconds() >= deadline_) {
      throw RpcError(RpcCode::input_output,
                     "the supervisor of " + folder_.dir() + " did not begin within 25 s: " + last_words());
    }
    return std::nullopt;
  }

 private:
  std::string last_words() const {
    const auto lines = last_lines(folder_.file("supervisor.log"), 1);
    return lines.empty() ? "it said nothing" : lines.back();
  }

  RunFolder folder_;
  std::string id_;
  Descriptor claim_;
  ProcessId supervisor_;
  double deadline_;
};

}  // namespace

std::unique_ptr<Job> start_run(const std::string& workdir, const Json& given) {
  Json json = given;
  RunSpec spec = parse_run_spec(json);
  if (const auto missing = missing_program(spec)) throw RpcError(RpcCode::not_found, *missing);
  const auto dir = Fields(json, "spec").optional_string("dir");
  json.erase("created");
  const RunFolder folder =
      dir ? take_run_folder(expand_path(*dir), spec, json) : make_run_folder(expand_path(workdir), spec);
  Descriptor claimed = claim(folder);

  const bool is_new = !file_exists(folder.run());
  json.erase("dir");
  Json run{{"version", 1}, {"id", spec.id}, {"created", now_seconds()}};
  for (const auto& [name, value] : json.items()) {
    if (name != "id") run[name] = value;
  }
  replace_file(folder.run(), to_line(run) + "\n");
  if (is_new) Journal(folder.events()).event("created", {{"id", spec.id}});
  return std::make_unique<StartRun>(folder, spec.id, spec.agent, std::move(claimed));
}

}  // namespace trainyard
