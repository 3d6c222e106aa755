// Which GPU of its node each rank is given.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/messages/json.h"

namespace trainyard {

/// A node's GPUs for a run as `agent rank` finds them in its environment ("0,2"), and the trainer
/// in its own: then it sees one GPU only.
inline constexpr const char* kGpusVariable = "TRAINYARD_GPUS";

/// The list in `field` of a spec or a message, by NVML's numbers; empty where it is null or
/// missing, which leaves the choice to the program. Throws FieldError for anything but different
/// whole numbers, or for fewer than `ranks`.
std::vector<int> gpus_of(const Json& object, const char* field, int ranks, const std::string& where);

std::string gpus_text(const std::vector<int>& gpus);

/// What the program of the rank that is `local_rank`-th of `local_ranks` on its node finds in its
/// environment: its own GPU of `gpus` ("0,2"), or its share where there are more of them than
/// ranks, numbered as NVML does, which CUDA does only when told so. 0 ranks: their number is not
/// known. Throws Error(Exit::device) where there is none.
std::map<std::string, std::string> pinned_gpu(const std::string& gpus, int local_rank, int local_ranks = 0);

}  // namespace trainyard
