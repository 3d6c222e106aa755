// What a rank says of its own work before it ends, so that its end cannot spoil it
// (docs/contracts/events.md, Outcomes). In a header alone, since libtrainer_cuda.so ends a rank too
// and shares no code with the trainer.
#pragma once
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "common/error.h"

namespace trainyard {

/// Names the descriptor that `agent rank` gives its program for outcomes.
inline constexpr const char* kOutcomeVariable = "TRAINYARD_OUTCOME_FD";

/// Writes a line for `agent rank`, the last of which counts; without one there (a trainer that was
/// started by hand) does nothing. `exit_code`: what the process is about to end with, whatever
/// stops it on the way.
inline void tell_outcome(Exit exit_code, Retry retry) {
  const char* text = std::getenv(kOutcomeVariable);
  const int fd = text == nullptr ? 0 : std::atoi(text);
  if (fd <= 2) return;
  std::array<char, 64> line{};
  const int length = std::snprintf(line.data(), line.size(), "{\"exit_code\":%d,\"retryable\":%s}\n",
                                   static_cast<int>(exit_code), retry == Retry::worthwhile ? "true" : "false");
  // Nobody could be told of a failure here; the process's exit code then stands alone.
  if (::write(fd, line.data(), static_cast<size_t>(length)) < 0) return;
}

/// The work is done (Exit::ok) or was stopped on request (Exit::stopped): to be called before
/// MPI_Finalize.
inline void tell_outcome(Exit exit_code) { tell_outcome(exit_code, Retry::pointless); }

}  // namespace trainyard
