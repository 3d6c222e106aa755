// Which of cuDNN's engines runs an operation.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "trainer/ops/cuda/library/descriptor.h"

namespace trainyard::cuda {

struct Plan {
  Descriptor plan;
  size_t workspace = 0;  ///< bytes
  std::string name;      ///< "engine 12"
};

/// An engine and its settings, as cuDNN suggests them.
struct Candidate {
  Descriptor configuration;
  int64_t engine = 0;
  bool transforms = false;  ///< its input (Winograd, Fourier), which rounds worse
};

/// What is planned for: the handle's device, or one that need not be there, by its properties.
struct Target {
  cudnnHandle_t handle = nullptr;
  const Descriptor* properties = nullptr;  ///< a CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, where there is no handle
};

/// cuDNN's suggestions that compute in plain fp32 and give the same bits every time: best first, but those that
/// transform behind all others.
std::vector<Candidate> candidates(const Launcher& launcher, const Target& target, const Descriptor& graph);

/// The first candidate that cuDNN can really run, in at most 1 GiB of workspace. Nothing where there is none.
std::optional<Plan> choose_plan(const Launcher& launcher, const Target& target, const Descriptor& graph);

}  // namespace trainyard::cuda
