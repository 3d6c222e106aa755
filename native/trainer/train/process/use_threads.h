// How many threads a verb computes with, said where it is not what was asked for.
#pragma once
#include <string>

#include "trainer/comm/communicator.h"

namespace trainyard {

/// set_threads (base/parallel.h); what it has to say becomes a warning on stderr.
void use_threads(int threads);

/// Threads this rank should use: `wanted` if above 0, else OMP_NUM_THREADS, else this host's cores
/// shared by its ranks.
int threads_for_rank(int wanted, const Communicator& communicator);

/// Threads that decode images: `wanted` if above 0, else one beside a CPU that computes, or all
/// `threads` of the rank beside a GPU.
int decoding_threads(int wanted, const std::string& device, int threads);

}  // namespace trainyard
