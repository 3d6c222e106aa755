// Which generation of its run a process belongs to.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace trainyard {

/// TRAINYARD_GENERATION, 1 when unset.
inline int generation_from_environment() {
  const char* text = std::getenv("TRAINYARD_GENERATION");
  return text != nullptr ? std::max(1, std::atoi(text)) : 1;
}

/// Whether a supervisor starts this process again, and nobody asked for it: TRAINYARD_RESTART.
inline bool restarts_by_itself() {
  const char* text = std::getenv("TRAINYARD_RESTART");
  return text != nullptr && std::string_view(text) == "1";
}

}  // namespace trainyard
