// Convolutions by cuDNN's graph API.
#pragma once
#include <cudnn.h>

#include <memory>
#include <string>

#include "trainer/ops/cuda/library/cudnn/engines.h"
#include "trainer/ops/cuda/makers.h"

namespace trainyard::cuda {

enum class Pass { forward, backward_data, backward_weights };

/// One pass of a convolution as a graph of cuDNN's. Without a handle it can only be asked about.
Descriptor convolution_graph(const Launcher& launcher, cudnnHandle_t handle, const Conv2dParams& params, Pass pass);

/// Where and how convolutions are planned.
struct ConvolutionPlanner {
  const Launcher& launcher;
  const cudnnHandle_t& handle;  ///< plans are run on the one that is there by then
  bool tf32 = false;
  PlanChooser* chooser = nullptr;  ///< of training's plans; nullptr: cuDNN's heuristics
  std::string device;              ///< under which the chooser keeps plans
};

/// "cuDNN 9.19.0": under which a chooser keeps plans.
std::string dnn_name();

/// Fails where cuDNN has no engine that computes it in params.input.dtype and the same way every
/// time.
std::unique_ptr<ConvolutionPlans> plan_convolution(const ConvolutionPlanner& planner, const Conv2dParams& params);

}  // namespace trainyard::cuda
