// How long the device takes for work, without the host's part. Nothing here fails: what cannot be
// measured has no time.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "trainer/ops/cuda/library/cudnn/handles.h"
#include "trainer/tensor/dtype.h"

namespace trainyard::cuda {

using DeviceBytes = std::unique_ptr<std::byte, FreeBy<cudaFree>>;

/// nullptr where there is no memory.
DeviceBytes device_bytes(size_t bytes);
/// So many numbers of a type between 0.5 and 1, of either sign: a device takes less power, so less
/// time, for zeros. nullptr where there is no memory.
DeviceBytes random_numbers(const Launcher& launcher, size_t count, DType dtype);

/// The median milliseconds of what `run` puts on the launcher's stream, warm: recorded several times
/// over, so that no launch from the host lies between. Nothing where `run` says false, or where it
/// cannot be recorded.
std::optional<double> device_milliseconds(const Launcher& launcher, const std::function<bool()>& run);

}  // namespace trainyard::cuda
