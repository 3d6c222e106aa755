// The names of --allreduce.
#pragma once
#include <string>
#include <vector>

namespace trainyard {

enum class AllReduceKind { library, ring, tree, hierarchical };

/// What `kind` (auto, ring, tree, hierarchical) means for ranks on these hosts. Throws
/// Error(Exit::usage) for another word.
AllReduceKind all_reduce_kind(const std::string& kind, const std::vector<std::string>& hosts);

/// "library", "ring", …
std::string name_of(AllReduceKind kind);

}  // namespace trainyard
