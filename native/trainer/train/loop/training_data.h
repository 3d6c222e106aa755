// The images of a training, as its options ask for them.
#pragma once
#include <functional>
#include <string>

#include "trainer/comm/communicator.h"
#include "trainer/data/source.h"
#include "trainer/train/plan/options.h"
#include "trainer/train/plan/plan.h"

namespace trainyard {

/// The side of the network's images: as asked, else what the model is meant for.
int image_size_for(const TrainOptions& options);

/// says: lines for people go to stderr. alive: called while the data are listed and walked through.
DatasetOptions dataset_options(const TrainOptions& options, bool says, const std::function<void()>& alive);

/// How this worker's loader reads them. plan: with its shares.
LoaderOptions loader_options(const TrainOptions& options, const TrainPlan& plan, const Communicator& workers);

}  // namespace trainyard
