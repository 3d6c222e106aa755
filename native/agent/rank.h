// `agent rank`: one rank of a run, its log and its exit record.
#pragma once
#include <string>
#include <vector>

namespace trainyard {

struct RankOptions {
  std::string run_dir;
  int generation = 1;
  std::string command_file;          ///< a JSON list of words; or
  std::vector<std::string> command;  ///< the words themselves
  std::string cwd;                   ///< empty: where it was started
};

/// Runs the command to its end and returns its exit code, 128 + signal when a signal ended it.
int run_rank(const RankOptions& options);

}  // namespace trainyard
