// Copies to the device on a stream of their own.
#pragma once
#include <memory>

#include "trainer/ops/cuda/makers.h"

namespace trainyard::cuda {

/// Of `bytes` at most at a time, into `memory`, for ops on launcher.stream.
std::unique_ptr<Uploads> make_stream_uploads(const Launcher& launcher, Backend& memory, size_t bytes);

}  // namespace trainyard::cuda
