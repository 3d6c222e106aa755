#include "trainer/train/bench/bench_step.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <utility>

#include "common/process.h"
#include "trainer/data/kinds.h"
#include "trainer/ops/cuda_library.h"
#include "trainer/ops/plans/timed_plans.h"
#include "trainer/train/bench/bench_images.h"
#include "trainer/train/loop/training_step.h"
#include "trainer/train/loop/worker_sums.h"
#include "trainer/train/process/interval.h"
#include "trainer/train/process/jpeg_decoder.h"
#include "trainer/train/process/memory_usage.h"
#include "trainer/train/process/use_threads.h"

namespace trainyard {
namespace {

/// Of this process, all its threads.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

nlohmann::json bench_step(const BenchStepOptions& options, Communicator& communicator) {
  check_jpeg_decoder({.decoder = options.jpeg_decoder, .device = options.device});
  check_tune(options.tune, options.device);
  use_threads(options.threads);
  int image_size = options.image_size;
  for (const ModelInfo& model : known_models()) {
    if (image_size == 0 && model.name == options.model) image_size = model.image_size;
  }
  const auto dataset = open_dataset(options.data, image_size);
  LoaderOptions loader_options;
  loader_options.image_size = image_size;
  loader_options.batch = options.batch_size;
  loader_options.rank = communicator.rank();
  loader_options.world = communicator.world();
  loader_options.make_device_jpeg =
      jpeg_decoder_maker(options.jpeg_decoder, own_cuda_device(communicator.local_rank()));
  loader_options.threads = decoding_threads(options.loader_threads, options.device, threads_for_rank(0, communicator));
  const bool fixed = is_synthetic(options.data);
  if (fixed) loader_options.prefetch = 1;
  auto loader = make_loader(*dataset, loader_options);
  loader->start(0);
  NetworkOptions network;
  network.model = options.model;
  network.classes = static_cast<int>(dataset->class_names().size());
  network.image_size = image_size;
  network.batch = options.batch_size;
  network.precision = parse_precision(options.precision);
  network.device = options.device;
  network.record_steps = !options.no_cuda_graphs;
  network.keeps_batch = fixed;
  network.device_index = own_cuda_device(communicator.local_rank());
  const auto plans = make_timed_plans(tune_on(options.tune, options.device));
  network.plans = plans.get();
  StepOptions step_options;
  if (network.precision == Precision::fp16) step_options.loss_scaling = LossScalerOptions{};
  const Team team({}, communicator);
  step_options.device_sums = set_up_sums({.comm = options.comm, .device = options.device}, team);
  TrainingStep step(communicator, network, step_options);
  step.distribute();
  if (plans && communicator.rank() == 0) std::fprintf(stderr, "trainer: note: %s\n", plans->summary().c_str());

  const auto images = (fixed ? fixed_images : loaded_images)(std::move(loader), image_size, step.network());
  Interval interval;
  double first_step_at = 0;
  double cpu_begin = 0;
  int64_t done = 0;
  // The ranks must agree on the number of steps, so "for S seconds" is decided by all of them
  // together.
  for (bool go = true; go; ++done) {
    if (done == options.warmup) {
      step.network().synchronize();
      interval.restart();
      cpu_begin = cpu_seconds();
    }
    const BatchView view = images->take(done);
    const int64_t measured = done + 1 - options.warmup;
    const bool enough =
        options.seconds > 0 ? measured > 0 && interval.seconds() >= options.seconds : measured >= options.steps;
    const StepOutcome outcome = step.run(view, done + 1, 0.01, {.stop = enough}, [&images] { return images->ahead(); });
    if (done == 0) first_step_at = now_seconds();
    images->done();
    interval.input_wait_ms += images->take_waited_ms();
    interval.add(outcome.loss, outcome.top1, outcome.comm_ms, 0);
    go = !outcome.wishes.stop;
  }
  // The time is that of all that the steps made the device do, and of nothing else.
  step.network().synchronize();
  const double seconds = interval.seconds();
  const double cpu_ms = 1000 * (cpu_seconds() - cpu_begin) / static_cast<double>(interval.steps);
  const int64_t global_batch = static_cast<int64_t>(options.batch_size) * communicator.world();
  nlohmann::json result = interval.fields(done, 1, global_batch, communicator.world());
  result.erase("epoch");
  result.erase("lr");
  result["model"] = options.model;
  result["precision"] = options.precision;
  result["device"] = options.device;
  result["jpeg_decoder"] = options.jpeg_decoder;
  result["tune"] = tune_on(options.tune, options.device);
  result["comm"] = step_options.device_sums ? "nccl" : "mpi";
  result["images"] = images->kind();
  result["batch_size"] = options.batch_size;
  result["threads"] = options.threads;
  result["steps"] = interval.steps;
  result["seconds"] = seconds;
  result["cpu_ms"] = cpu_ms;
  result["first_step_at"] = first_step_at;
  result["peak_bytes"] = memory_usage().peak;
  result["recorded_graphs"] = step.network().recorded_graphs();
  result["memory_bytes"] = step.network().memory_bytes();
  return result;
}

}  // namespace trainyard
