// `trainer train`.
#pragma once
#include <string>

#include "common/error.h"
#include "trainer/comm/communicator.h"
#include "trainer/train/plan/options.h"
#include "trainer/train/process/stop_request.h"

namespace trainyard {

/// Trains until the plan is done or a stop is asked for. Returns Exit::ok, or Exit::stopped after
/// the checkpoint that a stop asks for. Throws Error. Called by every rank, workers and servers,
/// with the same options.
Exit train(const TrainOptions& options, Communicator& communicator, const StopSignals& signals);

/// Threads this rank should use: `wanted` if above 0, else OMP_NUM_THREADS, else this host's cores
/// shared by its ranks.
int threads_for_rank(int wanted, const Communicator& communicator);

/// Threads that decode images: `wanted` if above 0, else one beside a CPU that computes, or all
/// `threads` of the rank beside a GPU.
int decoding_threads(int wanted, const std::string& device, int threads);

}  // namespace trainyard
