// Which generation of its run a process belongs to.
#pragma once
#include <algorithm>
#include <cstdlib>

namespace trainyard {

/// TRAINYARD_GENERATION, 1 when unset.
inline int generation_from_environment() {
  const char* text = std::getenv("TRAINYARD_GENERATION");
  return text != nullptr ? std::max(1, std::atoi(text)) : 1;
}

}  // namespace trainyard
