// The images, the network and the steps of a training, as the training's options ask for them.
#pragma once
#include <functional>

#include "trainer/comm/communicator.h"
#include "trainer/data/source.h"
#include "trainer/models/network.h"
#include "trainer/train/loop/training_step.h"
#include "trainer/train/plan/options.h"
#include "trainer/train/plan/plan.h"

namespace trainyard {

/// The side of the network's images: as asked, else what the model is meant for.
int image_size_for(const TrainOptions& options);

/// The side of the images on which its checkpoints are judged and used: as asked, else
/// `image_size`. Throws Error(Exit::usage) for a size that the model's weights do not suit.
int eval_image_size_for(const TrainOptions& options, int image_size);

/// What --eval-resize comes to for images of this size, in pixels. Throws Error(Exit::usage) where
/// it is below that size.
int eval_resize_for(const TrainOptions& options, int eval_image_size);

/// Sets the sizes of the plan's images by the three above. Throws Error(Exit::usage) too for a size
/// whose crops look at no boxes, where these are asked for.
void choose_image_sizes(const TrainOptions& options, TrainPlan& plan);

/// says: lines for people go to stderr. alive: called while the data are listed and walked through.
DatasetOptions dataset_options(const TrainOptions& options, bool says, const std::function<void()>& alive);

/// How this worker's loader reads them. plan: with its shares.
LoaderOptions loader_options(const TrainOptions& options, const TrainPlan& plan, const Communicator& workers);

/// plan: with its shares. What depends on the rank is left to the caller.
NetworkOptions network_options(const TrainOptions& options, const TrainPlan& plan);

/// The same, of a step.
StepOptions step_options(const TrainOptions& options, const TrainPlan& plan);

}  // namespace trainyard
