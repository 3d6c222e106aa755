// What a program that is not our trainer finds in its environment: the names by which launchers of
// PyTorch, Open MPI, Slurm and TensorFlow tell their processes who they are
// (docs/contracts/programs.md).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/messages/json.h"
#include "agent/run/folder/run_spec.h"

namespace trainyard {

/// A process, as mpiexec's proxy numbers it.
struct RankPlace {
  int rank = 0;
  int local_rank = 0;
};

/// What the head tells each node of a generation, from which every process makes its names. `ports`
/// were free on the head: the first is MASTER_PORT, the others are TensorFlow's; it may be empty.
Json program_description(const RunSpec& spec, int generation, const std::vector<int>& ports);

/// The same with ports that are free now; null for our trainer. Throws Error where no port is free.
Json own_program(const RunSpec& spec, int generation);

/// Up to `count` ports that nobody holds on this machine, of first..last (0: any), from a place of
/// the range that chance chooses.
std::vector<int> free_ports(int first, int last, int count);

/// The names and values of one process. Throws FieldError for what is no description.
std::map<std::string, std::string> program_names(const Json& description, RankPlace place);

/// Whether a variable that the node had before tells of another launch.
bool is_of_another_launch(const std::string& name, bool per_node);

}  // namespace trainyard
