#include "trainer/comm/all_reduce_kind.h"

#include <set>

#include "common/error.h"

namespace trainyard {

AllReduceKind all_reduce_kind(const std::string& kind, const std::vector<std::string>& hosts, SumType type) {
  if (kind == "ring") return AllReduceKind::ring;
  if (kind == "tree") return AllReduceKind::tree;
  if (kind == "hierarchical") return AllReduceKind::hierarchical;
  if (kind != "auto") {
    throw Error(Exit::usage, "unknown --allreduce '" + kind + "'. Use auto, ring, tree or hierarchical");
  }
  const size_t several = std::set<std::string>(hosts.begin(), hosts.end()).size();
  if (several > 1 && several < hosts.size()) return AllReduceKind::hierarchical;
  return type == SumType::fp32 ? AllReduceKind::library : AllReduceKind::direct;
}

std::string name_of(AllReduceKind kind) {
  switch (kind) {
    case AllReduceKind::direct:
      return "direct";
    case AllReduceKind::ring:
      return "ring";
    case AllReduceKind::tree:
      return "tree";
    case AllReduceKind::hierarchical:
      return "hierarchical";
    case AllReduceKind::library:
      break;
  }
  return "library";
}

}  // namespace trainyard
