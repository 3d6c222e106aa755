// The names of --allreduce.
#pragma once
#include <string>
#include <vector>

#include "trainer/comm/sum_type.h"

namespace trainyard {

enum class AllReduceKind { library, direct, ring, tree, hierarchical };

/// What `kind` (auto, ring, tree, hierarchical) means for ranks on these hosts: where `auto` would
/// leave it to the MPI library, which knows no bf16, `direct`. Throws Error(Exit::usage) for another
/// word.
AllReduceKind all_reduce_kind(const std::string& kind, const std::vector<std::string>& hosts, SumType type);

/// "library", "ring", …
std::string name_of(AllReduceKind kind);

}  // namespace trainyard
