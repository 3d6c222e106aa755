// agent serve | supervise | join | rank | version
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "agent/gpus/gpu_locks.h"
#include "agent/join/join.h"
#include "agent/messages/json.h"
#include "agent/messages/version.h"
#include "agent/ranks/rank.h"
#include "agent/rpc/serve.h"
#include "agent/supervise/supervise.h"
#include "agent/system/paths.h"
#include "common/error.h"

namespace {

using namespace trainyard;

/// Later opens must not land on 0, 1 or 2 and be taken for a standard stream.
void fill_standard_streams() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= 2);
  if (fd > 2) ::close(fd);
}

int run(int argc, char** argv) {
  // What follows "--" belongs to the program that `agent rank` starts, whatever it looks like.
  std::vector<std::string> arguments(argv + 1, argv + argc);
  RankOptions rank;
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  if (separator != arguments.end()) {
    rank.command.assign(separator + 1, arguments.end());
    arguments.erase(separator, arguments.end());
  }

  CLI::App app("Trainyard's helper on a node");
  app.require_subcommand(1);
  CLI::App* serve_verb = app.add_subcommand("serve", "RPC over stdin and stdout");
  std::string run_dir;
  CLI::App* supervise_verb = app.add_subcommand("supervise", "run the run in a folder");
  supervise_verb->add_option("--run-dir", run_dir, "the run folder")->required();
  std::string gpu_locks;
  const char* const locks_help = "open descriptors of the locks of the run's GPUs";
  supervise_verb->add_option("--gpu-locks", gpu_locks, locks_help);
  std::string host;
  CLI::App* join_verb = app.add_subcommand("join", "this node's part in a run of several hosts");
  join_verb->add_option("--run-dir", run_dir, "the run folder on this node")->required();
  join_verb->add_option("--host", host, "the profile's name of this node")->required();
  join_verb->add_option("--gpu-locks", gpu_locks, locks_help);
  CLI::App* rank_verb = app.add_subcommand("rank", "run one rank: agent rank --run-dir D --generation G -- COMMAND…");
  rank_verb->add_option("--run-dir", rank.run_dir, "the run folder");
  rank_verb->add_option("--generation", rank.generation, "1, 2, …");
  rank_verb->add_option("--command-file", rank.command_file,
                        "a JSON list of the command's words, instead of -- COMMAND…");
  rank_verb->add_option("--cwd", rank.cwd, "where the command runs");
  CLI::App* version_verb = app.add_subcommand("version", "print the version");
  try {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(Exit::usage);
  }

  if (serve_verb->parsed()) return serve();
  if (supervise_verb->parsed()) return supervise(canonical_path(run_dir), GpuLocks::passed_on(gpu_locks));
  if (version_verb->parsed()) return std::printf("%s\n", kAgentVersion) < 0 ? 1 : 0;
  if (join_verb->parsed()) return join_run(canonical_path(run_dir), host, GpuLocks::passed_on(gpu_locks));
  return run_rank(with_environment(rank));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    fill_standard_streams();
    return run(argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "agent: error: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "agent: error: %s\n", error.what());
    return static_cast<int>(Exit::internal);
  }
}
