#include "agent/run/run_state.h"

namespace trainyard {

namespace {

Json json_of(const ProcessId& process) { return Json{{"pid", process.pid}, {"startTime", process.start_time}}; }

Json json_of(const std::optional<ProcessId>& process) { return process ? json_of(*process) : Json(nullptr); }

std::optional<ProcessId> process_of(const Json& json) {
  if (!json.is_object() || !json.contains("pid") || !json.contains("startTime")) return std::nullopt;
  const Json& pid = json["pid"];
  const Json& start = json["startTime"];
  if (!pid.is_number_integer() || !start.is_number_integer()) return std::nullopt;
  const ProcessId process{pid.get<int>(), start.get<uint64_t>()};
  return process.pid > 1 ? std::optional(process) : std::nullopt;
}

bool same_boot(const Json& state) {
  if (!state.is_object() || !state.contains("supervisor") || !state["supervisor"].is_object()) return false;
  const Json& supervisor = state["supervisor"];
  return supervisor.contains("bootId") && supervisor["bootId"] == boot_id();
}

}  // namespace

Json RunState::to_json() const {
  Json json;
  json["version"] = 1;
  json["phase"] = phase;
  json["generation"] = generation;
  json["world"] = world;
  json["supervisor"] = json_of(supervisor);
  json["supervisor"]["bootId"] = boot;
  json["supervisor"]["host"] = host;
  json["guard"] = json_of(guard);
  json["ranks"] = Json::array();
  for (const RankProcess& rank : ranks) {
    json["ranks"].push_back(
        {{"rank", rank.rank}, {"host", rank.host}, {"pid", rank.process.pid}, {"startTime", rank.process.start_time}});
  }
  json["mpiexec"] = json_of(mpiexec);
  json["evaluator"] = json_of(evaluator);
  if (!nodes.is_null()) json["nodes"] = nodes;
  if (!mirror.is_null()) json["mirror"] = mirror;
  json["started"] = started;
  json["ended"] = json_or_null(ended);
  json["exitCode"] = json_or_null(exit_code);
  json["reason"] = json_or_null(reason);
  if (!waiting.empty()) json["waiting"] = waiting;
  json["updated"] = now_seconds();
  return json;
}

bool is_final_phase(const std::string& phase) { return phase == "finished" || phase == "stopped" || phase == "failed"; }

std::optional<ProcessId> recorded_supervisor(const Json& state) {
  if (!same_boot(state)) return std::nullopt;
  return process_of(state["supervisor"]);
}

bool supervisor_lives(const Json& state) {
  const std::optional<ProcessId> supervisor = recorded_supervisor(state);
  return supervisor && is_alive(*supervisor);
}

std::vector<NamedProcess> recorded_processes(const Json& state) {
  std::vector<NamedProcess> all;
  if (!same_boot(state)) return all;
  const auto add = [&all](const Json& json, const std::string& what) {
    if (const auto process = process_of(json)) all.push_back({*process, what});
  };
  for (const char* name : {"mpiexec", "evaluator"}) {
    if (state.contains(name)) add(state[name], name);
  }
  if (state.contains("ranks") && state["ranks"].is_array()) {
    const Json here = state["supervisor"].value("host", Json(""));
    for (const Json& rank : state["ranks"]) {
      if (rank.is_object() && rank.value("host", here) != here) continue;  // pids of another machine
      if (rank.is_object() && rank.contains("rank")) add(rank, "rank " + rank["rank"].dump());
    }
  }
  if (state.contains("guard")) add(state["guard"], "guard");
  add(state["supervisor"], "supervisor");
  return all;
}

}  // namespace trainyard
