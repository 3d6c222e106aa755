// Where an error of the CUDA library goes in tests that have it in their own program.
#pragma once
#include "common/error.h"
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

inline constexpr Launcher kThrowing{nullptr, [](int code, const char* message, bool worth_retrying) {
                                      throw Error(static_cast<Exit>(code), message,
                                                  worth_retrying ? Retry::worthwhile : Retry::pointless);
                                    }};

}  // namespace trainyard::cuda
