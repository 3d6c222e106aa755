#include "trainer/train/loop/setup.h"

#include <cstdio>
#include <string>

#include "common/error.h"
#include "trainer/base/parallel.h"
#include "trainer/data/pixels/augment.h"
#include "trainer/ops/cuda_library.h"
#include "trainer/train/process/jpeg_decoder.h"
#include "trainer/train/process/shard_progress.h"
#include "trainer/train/process/use_threads.h"

namespace trainyard {

int image_size_for(const TrainOptions& options) {
  if (options.image_size > 0) return options.image_size;
  for (const ModelInfo& model : known_models()) {
    if (model.name == options.model) return model.image_size;
  }
  return 32;  // unknown model: make_network names the known ones
}

int eval_image_size_for(const TrainOptions& options, int image_size) {
  const int asked = options.eval_image_size;
  if (asked == 0 || asked == image_size) return image_size;
  const std::string flag = "--eval-image-size " + std::to_string(asked);
  const ModelInfo& model = find_model(options.model);
  if (!model.any_size) {
    throw Error(Exit::usage, flag + ": the weights of " + model.name + " are for images of one size, " +
                                 std::to_string(image_size) + " pixels here. Leave it out, or use another --model");
  }
  if (asked < model.least_size) {
    throw Error(Exit::usage, flag + ": the model " + model.name + " needs images of at least " +
                                 std::to_string(model.least_size) + " pixels. Use a larger --eval-image-size");
  }
  return asked;
}

int eval_resize_for(const TrainOptions& options, int eval_image_size) {
  if (options.eval_resize == 0) return evaluation_resize(eval_image_size);
  if (options.eval_resize >= eval_image_size) return options.eval_resize;
  throw Error(Exit::usage, "--eval-resize " + std::to_string(options.eval_resize) + " is less than the " +
                               std::to_string(eval_image_size) + " pixels that are cropped of it. Use " +
                               std::to_string(eval_image_size) + " or more");
}

namespace {

void check_object_covered(const TrainOptions& options, int image_size) {
  if (options.min_object_covered == 0 || image_size > kSmallImage) return;
  throw Error(Exit::usage, "--min-object-covered is about crops of images above " + std::to_string(kSmallImage) +
                               " pixels, and these have " + std::to_string(image_size) +
                               ". Leave it out, or use a larger --image-size");
}

}  // namespace

void choose_image_sizes(const TrainOptions& options, TrainPlan& plan) {
  plan.image_size = image_size_for(options);
  check_object_covered(options, plan.image_size);
  plan.eval_image_size = eval_image_size_for(options, plan.image_size);
  plan.eval_resize = eval_resize_for(options, plan.eval_image_size);
}

DatasetOptions dataset_options(const TrainOptions& options, bool says, const std::function<void()>& alive) {
  DatasetOptions data;
  data.label_offset = options.label_offset;
  data.boxes = options.min_object_covered > 0;
  data.max_bad_images = options.max_bad_images;
  data.on_note = [says](const std::string& line) {
    if (says) std::fprintf(stderr, "trainer: warning: %s\n", line.c_str());
  };
  data.listed = alive;
  data.progress = shard_progress(says, alive);
  return data;
}

LoaderOptions loader_options(const TrainOptions& options, const TrainPlan& plan, const Communicator& workers) {
  LoaderOptions loader;
  loader.image_size = plan.image_size;
  loader.batch = plan.batch * plan.accumulate;
  loader.rank = workers.rank();
  loader.world = workers.world();
  loader.seed = options.seed;
  loader.augment = augment_of(options.augment);
  loader.min_object_covered = options.min_object_covered;
  loader.random_erasing = options.random_erasing;
  loader.mixing = options.mixing;
  loader.repeats = options.repeated_augmentation;
  loader.shuffle_buffer = static_cast<size_t>(options.shuffle_buffer);
  loader.cache = options.cache == "ram";
  loader.make_device_jpeg = jpeg_decoder_maker(options.jpeg_decoder, own_cuda_device(workers.local_rank()));
  loader.prefetch = options.prefetch;
  loader.threads = decoding_threads(options.loader_threads, options.device, threads());
  loader.max_bad_images = options.max_bad_images;
  loader.retry_seconds = options.retry_seconds;
  loader.on_retry = [](const std::string& line) { std::fprintf(stderr, "trainer: warning: %s\n", line.c_str()); };
  loader.on_note = [](const std::string& line) { std::fprintf(stderr, "trainer: note: %s\n", line.c_str()); };
  return loader;
}

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
  // Those of another size have a network of their own.
  network.evaluates = options.eval_on == "ranks" && plan.eval_image_size == plan.image_size;
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
