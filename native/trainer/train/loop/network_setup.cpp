#include "trainer/train/loop/network_setup.h"

namespace trainyard {

NetworkOptions network_options(const TrainOptions& options, const TrainPlan& plan) {
  NetworkOptions network;
  network.model = options.model;
  network.classes = plan.classes;
  network.image_size = plan.image_size;
  network.batch = plan.batch;
  network.seed = options.seed;
  network.label_smoothing = static_cast<float>(options.label_smoothing);
  network.precision = parse_precision(options.precision);
  if (options.dropout) network.dropout = static_cast<float>(*options.dropout);
  network.device = options.device;
  network.memory_growth = options.memory_growth;
  network.record_steps = !options.no_cuda_graphs;
  return network;
}

StepOptions step_options(const TrainOptions& options, const TrainPlan& plan) {
  StepOptions step;
  step.optimizer = options.optimizer;
  step.sync_batch_norm = options.sync_batch_norm;
  step.accumulate = plan.accumulate;
  step.clip_norm = options.clip_norm;
  step.bucket_bytes = options.strategy.bucket_bytes();
  if (parse_precision(options.precision) == Precision::fp16) step.loss_scaling = LossScalerOptions{};
  return step;
}

}  // namespace trainyard
