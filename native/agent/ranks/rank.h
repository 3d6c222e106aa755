// `agent rank`: one rank of a run, its log and its exit record.
#pragma once
#include <string>
#include <vector>

#include "agent/messages/json.h"

namespace trainyard {

/// Names the command file of one node's ranks, and marks them and their proxy as that node's.
inline constexpr const char* kCommandVariable = "TRAINYARD_COMMAND_FILE";

struct RankOptions {
  std::string run_dir;
  int generation = 0;
  std::string command_file;          ///< a JSON list of words, or what command_file() makes; or
  std::vector<std::string> command;  ///< the words themselves
  std::string cwd;                   ///< empty: where it was started
  std::string prologue;              ///< shell text before the program
  Json program;                      ///< of an own program: what program_description() gave; else null
};

/// What stands in a command file. `program` is null for our trainer.
Json command_file(const std::vector<std::string>& argv, const std::string& cwd, const std::string& prologue,
                  const Json& program);

/// Where a run spans hosts, mpiexec's command line names no path: what is missing in `options`
/// comes from the environment that this node's `agent join` gave the proxy. Throws
/// Error(Exit::usage) when it is not there either.
RankOptions with_environment(RankOptions options);

/// Runs the command to its end and returns its exit code, 128 + signal when a signal ended it.
int run_rank(const RankOptions& options);

}  // namespace trainyard
