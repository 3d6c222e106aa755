// Where an error of the CUDA library goes in tests that have it in their own program.
#pragma once
#include "common/error.h"
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

inline constexpr Launcher kThrowing{
    nullptr, [](int code, const char* message) { throw Error(static_cast<Exit>(code), message); }};

}  // namespace trainyard::cuda
