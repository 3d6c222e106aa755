// RPC: run.start, run.list, run.get, run.describe, run.stop, run.kill.
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>

#include "agent/messages/rpc_error.h"
#include "agent/rpc/describe_run.h"
#include "agent/rpc/rpc.h"
#include "agent/rpc/run_start.h"
#include "agent/run/folder/run_about.h"
#include "agent/run/lease.h"
#include "agent/run/run_processes.h"
#include "agent/run/run_state.h"
#include "agent/run/stop_watch.h"
#include "agent/system/clock.h"
#include "agent/system/kill.h"
#include "agent/system/paths.h"
#include "common/error.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostListed = 6 << 20;  // bytes of run.list's answer; older runs beyond it are left out
constexpr double kKillSeconds = 12;

Answer list(const Fields& params, ServeContext&) {
  Json answer{{"runs", Json::array()}};
  size_t bytes = 0;
  for (const std::string& dir : list_run_folders(expand_path(params.string("workdir")))) {
    Json one = describe_run(RunFolder(dir));
    if (one["interrupted"] == true) one = describe_run(RunFolder(dir));  // see get
    bytes += to_line(one).size();
    if (bytes > kMostListed) {
      answer["truncated"] = true;
      break;
    }
    answer["runs"].push_back(std::move(one));
  }
  return answer;
}

/// Another one for another file of that name, and after every change of a file. Its size may be the
/// same, and the time of its last write too: tools for copies set that.
std::string stamp_of(const struct stat& info) {
  return std::to_string(info.st_ino) + " " + std::to_string(info.st_ctim.tv_sec) + "." +
         std::to_string(info.st_ctim.tv_nsec);
}

Answer get(const Fields& params, ServeContext&) {
  const RunFolder folder = existing_run_folder(expand_path(params.string("dir")));
  Json answer = describe_run(folder);
  // The supervisor may have said how the run ended, and gone, between the look at its words and the
  // look at it.
  if (answer["interrupted"] == true) answer = describe_run(folder);
  Json files = Json::object(), stamps = Json::object();
  for (const std::string sub : {"", "logs/", "gpus/"}) {
    std::error_code failed;
    for (fs::directory_iterator entry(folder.file(sub), failed), end; !failed && entry != end;
         entry.increment(failed)) {
      struct stat info{};
      if (::stat(entry->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
      const std::string name = sub + entry->path().filename().string();
      files[name] = info.st_size;
      if (sub.empty()) stamps[name] = stamp_of(info);
    }
  }
  answer["files"] = std::move(files);
  answer["stamps"] = std::move(stamps);
  return answer;
}

Answer set_about(const Fields& params, ServeContext&) {
  const RunFolder folder = existing_run_folder(expand_path(params.string("dir")));
  const Json* about = params.find("about");
  if (about == nullptr) throw FieldError("params.about is missing");
  write_about(folder, parse_about(*about, "params.about"));
  return Json::object();
}

Answer start(const Fields& params, ServeContext& context) {
  const Json* spec = params.find("spec");
  if (spec == nullptr) throw FieldError("params.spec is missing");
  GpuLocks gpus = context.gpus.pass_on(params.optional_string("gpuLocks").value_or(""));
  return start_run(params.string("workdir"), *spec, std::move(gpus));
}

/// True when the run's supervisor is on this machine and was signalled.
bool signal_supervisor(const RunFolder& folder, StopRequest::Mode mode) {
  const auto state = read_json_object(folder.state());
  const auto supervisor = state ? recorded_supervisor(*state) : std::nullopt;
  return supervisor && signal_process(*supervisor, mode == StopRequest::Mode::now ? kStopNowSignal : SIGTERM);
}

Answer stop(const Fields& params, ServeContext&) {
  const RunFolder folder = existing_run_folder(expand_path(params.string("dir")));
  const std::string mode = params.string("mode");
  if (mode != "checkpoint" && mode != "now") throw FieldError("params.mode must be 'checkpoint' or 'now'");
  const Supervision now = supervision(folder);
  if (now.kind == Supervision::Kind::over) {
    throw RpcError(RpcCode::bad_state,
                   "the run in " + folder.dir() + " has ended already. Nothing needs to be stopped");
  }
  if (now.kind == Supervision::Kind::nobody) {
    throw RpcError(RpcCode::bad_state, "the run in " + folder.dir() +
                                           " was interrupted: nobody supervises it. End what is left with run.kill");
  }
  const StopRequest request{mode == "now" ? StopRequest::Mode::now : StopRequest::Mode::checkpoint,
                            params.optional_string("by").value_or("")};
  try {
    write_stop_request(folder, request);
  } catch (const Error&) {
    // A disk that is full or read-only must not keep a run going that perhaps fills it.
    if (!signal_supervisor(folder, request.mode)) throw;
  }
  return Json::object();
}

class KillJob : public Job {
 public:
  explicit KillJob(const RunFolder& folder)
      : sweep_([folder] { return find_run(folder, {}); }), deadline_(monotonic_seconds() + kKillSeconds) {}

  std::optional<Json> step() override {
    if (!sweep_.step() && monotonic_seconds() < deadline_) return std::nullopt;
    return Json{{"killed", json_of(sweep_.killed())}, {"left", json_of(sweep_.left())}};
  }

 private:
  static Json json_of(const std::vector<NamedProcess>& processes) {
    Json list = Json::array();
    for (const NamedProcess& one : processes) list.push_back({{"pid", one.process.pid}, {"what", one.what}});
    return list;
  }

  Sweep sweep_;
  double deadline_;
};

Answer kill(const Fields& params, ServeContext&) {
  const RunFolder folder = existing_run_folder(expand_path(params.string("dir")));
  const Supervision now = supervision(folder);
  if (now.kind == Supervision::Kind::elsewhere) {
    throw RpcError(RpcCode::bad_state, "the run in " + folder.dir() + " is supervised on " + now.host +
                                           ", where its processes are. Stop it first");
  }
  return std::make_unique<KillJob>(folder);
}

}  // namespace

void add_run_methods(MethodTable& table) {
  table["run.start"] = start;
  table["run.list"] = list;
  table["run.get"] = get;
  table["run.describe"] = set_about;
  table["run.stop"] = stop;
  table["run.kill"] = kill;
}

}  // namespace trainyard
