#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/cli/verbs.h"

namespace trainyard {
namespace {

struct Options {
  std::string run_dir;
  bool json = false;
};

void print(const CheckpointInfo& checkpoint, bool json) {
  if (json) {
    const nlohmann::ordered_json object = {{"step", checkpoint.step},   {"path", checkpoint.path},
                                           {"bytes", checkpoint.bytes}, {"time", checkpoint.time},
                                           {"valid", checkpoint.valid}, {"reason", checkpoint.reason}};
    std::printf("%s\n", object.dump().c_str());
    return;
  }
  std::printf("step %10lld  %12llu bytes  %s  %s\n", static_cast<long long>(checkpoint.step),
              static_cast<unsigned long long>(checkpoint.bytes), checkpoint.path.c_str(),
              checkpoint.valid ? "valid" : ("INVALID: " + checkpoint.reason).c_str());
}

Exit list(const Options& options, bool verify) {
  if (!std::filesystem::is_directory(options.run_dir)) {
    throw Error(Exit::data,
                "no run folder " + options.run_dir + ". Give the folder that --run-dir named when training");
  }
  bool all_valid = true;
  for (const CheckpointInfo& checkpoint : list_checkpoints(options.run_dir, verify)) {
    print(checkpoint, options.json);
    all_valid = all_valid && checkpoint.valid;
  }
  return verify && !all_valid ? Exit::data : Exit::ok;
}

}  // namespace

Verb add_checkpoints(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "checkpoints", "list a run's checkpoints, or verify every byte of them (exit 3 if one is damaged)");
  auto options = std::make_shared<Options>();
  command->require_subcommand(1);
  CLI::App* verify = nullptr;
  for (const char* name : {"list", "verify"}) {
    CLI::App* sub = command->add_subcommand(name, std::string(name) == "list" ? "by size" : "by SHA-256");
    sub->add_option("--run-dir", options->run_dir, "the run's folder")->required();
    sub->add_flag("--json", options->json, "one JSON object a line");
    if (std::string(name) == "verify") verify = sub;
  }
  return {command, [options, verify] { return list(*options, verify->parsed()); }};
}

}  // namespace trainyard
