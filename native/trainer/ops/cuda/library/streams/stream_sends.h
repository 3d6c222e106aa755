// Sends on the ops' stream, from pinned memory.
#pragma once
#include <memory>

#include "trainer/ops/cuda/launch.h"
#include "trainer/ops/cuda/sends.h"

namespace trainyard::cuda {

/// On launcher.stream, which must outlive it. wait: where all places are under way.
std::unique_ptr<Sends> make_stream_sends(const Launcher& launcher, Sends::Wait wait);

}  // namespace trainyard::cuda
