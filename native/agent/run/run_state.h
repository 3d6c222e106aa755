// state.json: what the supervisor says of its run, and what others may conclude from it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "agent/messages/json.h"
#include "agent/system/kill.h"
#include "common/process.h"

namespace trainyard {

struct RankProcess {
  int rank = 0;
  std::string host;
  ProcessId process;
};

struct RunState {
  std::string phase = "starting";
  int generation = 1;
  int world = 0;
  ProcessId supervisor;
  std::string boot;
  std::string host;
  std::vector<RankProcess> ranks;
  std::optional<ProcessId> guard, mpiexec, evaluator;
  double started = 0;
  std::optional<double> ended;
  std::optional<int> exit_code;
  std::optional<std::string> reason;
  std::string waiting;  ///< what it waits for while its phase is "queued", for people
  Json nodes;           ///< of a run of several hosts; else null
  Json mirror;          ///< where a node keeps a copy of the run folder; else null

  Json to_json() const;
};

bool is_final_phase(const std::string& phase);

/// The supervisor that a state.json names, if it was started since this machine's last boot.
std::optional<ProcessId> recorded_supervisor(const Json& state);

/// Whether the supervisor named by the state is alive on this machine now.
bool supervisor_lives(const Json& state);

/// Every process that the state names (supervisor last), if this machine has not been started anew
/// since.
std::vector<NamedProcess> recorded_processes(const Json& state);

}  // namespace trainyard
