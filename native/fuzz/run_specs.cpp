// run.json and the spec of run.start: they come from a client, and lie in a folder that a person
// may edit.
#include "agent/run/folder/run_folder.h"
#include "agent/run/folder/run_spec.h"
#include "fuzz/target.h"

namespace trainyard::fuzz {

namespace {

Json alone() {
  return {{"version", 1},
          {"id", "20261121-104500-resnet20-1f2e"},
          {"profile", {{"name", "local"}, {"kind", "local"}}},
          {"program", "trainer"},
          {"argv", {"train", "--model", "resnet20"}},
          {"ranks", 2},
          {"threadsPerRank", 1},
          {"gpus", {3, 1}},
          {"env", {{"K", "V"}}},
          {"evaluator", {{"argv", {"eval", "--data", "d"}}, {"threads", 1}, {"nice", 19}}},
          {"tensorboard", true},
          {"paths",
           {{"trainer", "/a/trainer"},
            {"mpiexec", "~/mpiexec"},
            {"agent", "/a/agent"},
            {"python", "/a/python"},
            {"tensorboardServer", "/a/server.py"}}},
          {"limits", {{"hangTimeout", 300}, {"startTimeout", 60}, {"maxRestarts", 2}}},
          {"launcher", "fork"}};
}

Json spread() {
  Json spec = alone();
  spec["launcher"] = "manual";
  spec["gpus"] = nullptr;
  spec["nodes"] = {{{"host", "gpu1"}, {"address", "10.0.0.5"}, {"slots", 1}, {"gpus", {0}}, {"nvidia", {"/opt/cuda"}}},
                   {{"host", "gpu2"}, {"address", "gpu2.lan"}, {"slots", 1}, {"gpus", nullptr}}};
  spec["interface"] = "eth0";
  spec["portRange"] = "47000-47100";
  spec["minNodes"] = 1;
  return spec;
}

void check(const RunSpec& spec) {
  require(spec.ranks >= 1 && spec.threads_per_rank >= 1, "a run has ranks and threads");
  require(!spec.argv.empty(), "a run has a command");
  require(spec.id.empty() || is_run_id(spec.id), "an id is a plain name");
  require(is_run_id(make_run_id(run_label(spec))), "a label makes an id");
  for (const std::string& path : {spec.mpiexec, spec.agent}) {
    require(path.empty() || path.front() == '/', "paths are absolute");
  }
  int slots = 0;
  for (const NodeSpec& node : spec.nodes) {
    require(is_run_id(node.host), "a host is a plain name");
    slots += node.slots;
  }
  require(spec.nodes.empty() || slots == spec.ranks, "the slots are the ranks");
  require(spec.first_port <= spec.last_port && spec.last_port <= 65535, "ports are a range");
  require(!spec.rank_command("/run").empty(), "a rank has a command");
}

}  // namespace

std::vector<std::string> seeds() { return {to_line(alone()), to_line(spread())}; }

void run(std::string_view input) {
  try {
    check(parse_run_spec(parse_json(input)));
  } catch (const FieldError&) {
    return;
  }
}

}  // namespace trainyard::fuzz
