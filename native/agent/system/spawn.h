// Starting other programs with exactly the environment, descriptors and signals they should have.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "common/process.h"

namespace trainyard {

using Environment = std::map<std::string, std::string>;

/// The path of a program that is named without a folder, as PATH has it; else the name itself.
std::string look_up(const std::string& program, const Environment& env);

/// `folder`/bin before the folders of `path`, which may be empty.
std::string with_bin_of(const std::string& folder, const std::string& path);

/// This process's environment without what a surrounding run, launcher or batch system left in it
/// (TRAINYARD_*, PMI*, HYDRA_*, HYDI_*, MPIEXEC_*, MPI_LOCAL*), which would mislead the programs of
/// a run.
Environment clean_environment();

struct Command {
  std::vector<std::string> argv;  ///< argv[0] is looked up in PATH when it holds no slash
  Environment env;                ///< complete
  std::string cwd;
  std::string log;  ///< stdout and stderr are appended here
  int nice = 0;
  std::vector<int> passed;  ///< descriptors that it inherits by their numbers
  int death_signal = 0;     ///< sent to it when the starting process ends; 0: none
};

/// Starts a child in its own process group, stdin from /dev/null, no descriptor inherited but those
/// `passed`. Throws Error when it cannot be executed.
ProcessId start_child(const Command& command);

/// Starts a process that belongs to nobody: own session, not a child of ours, unaffected by our
/// end.
ProcessId start_detached(const Command& command);

/// Closes every descriptor from 3 on, but for `kept` (-1: none).
void close_descriptors_except(int kept, int also_kept = -1);
void close_descriptors_except(const std::vector<int>& kept);

/// Default dispositions and an empty mask, as a new program expects them.
void reset_signals();

/// For a fork that may hang: a session of its own, no signal that ends it but SIGKILL, and nothing
/// open but these two, not even standard error, which would keep a connection from closing.
void detach_from_everything(const char* name, int kept, int also_kept);

/// Opens /dev/null as stdin and `log` (appended, 0600) as stdout and stderr. Returns false with
/// errno set.
bool redirect_standard_streams(const std::string& log);

}  // namespace trainyard
