// The network of a training and its steps, as the training's options ask for them.
#pragma once
#include "trainer/models/network.h"
#include "trainer/train/loop/training_step.h"
#include "trainer/train/plan/options.h"
#include "trainer/train/plan/plan.h"

namespace trainyard {

/// plan: with its shares. What depends on the rank is left to the caller.
NetworkOptions network_options(const TrainOptions& options, const TrainPlan& plan);

/// The same, of a step.
StepOptions step_options(const TrainOptions& options, const TrainPlan& plan);

}  // namespace trainyard
