// Which of cuDNN's engines runs an operation.
#pragma once
#include <optional>
#include <string>

#include "trainer/ops/cuda/library/descriptor.h"

namespace trainyard::cuda {

struct Plan {
  Descriptor plan;
  size_t workspace = 0;  ///< bytes
  std::string name;      ///< "engine 12"
};

/// The first of cuDNN's suggestions that computes in plain fp32 and gives the same bits every time; one that transforms
/// its input (Winograd, Fourier), which rounds worse, only where no other does. Nothing where none does.
std::optional<Plan> choose_plan(const Launcher& launcher, cudnnHandle_t handle, const Descriptor& graph);

}  // namespace trainyard::cuda
