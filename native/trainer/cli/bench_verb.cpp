#include <cstdio>
#include <functional>
#include <memory>

#include "common/outcome.h"
#include "trainer/cli/flags/augment_flags.h"
#include "trainer/cli/flags/device_flags.h"
#include "trainer/cli/flags/numbers.h"
#include "trainer/cli/flags/strategy_flags.h"
#include "trainer/cli/verbs.h"
#include "trainer/train/bench/bench_all_reduce.h"
#include "trainer/train/bench/bench_input.h"
#include "trainer/train/bench/bench_matmul.h"
#include "trainer/train/bench/bench_step.h"

namespace trainyard {

namespace {

void print(const nlohmann::json& result) {
  std::printf("%s\n", result.dump().c_str());
  std::fflush(stdout);
}

/// What computes on every rank's device: flags that say how, and one result, which rank 0 prints.
template <class Options>
Verb on_all_ranks(CLI::App* command, const std::shared_ptr<Options>& o,
                  nlohmann::json (*measure)(const Options& options, Communicator& communicator)) {
  add_device_flags(*command, o->device, o->precision);
  command->add_option("--threads", o->threads, "compute threads of each rank")
      ->transform(threads_range())
      ->capture_default_str();
  add_comm_flag(*command, o->comm);
  return {command, [o, measure] {
            require_device(o->device, o->precision);
            const auto communicator = make_communicator(o->comm);
            const auto result = measure(*o, *communicator);
            if (communicator->rank() == 0) print(result);
            tell_outcome(Exit::ok);
            return Exit::ok;
          }};
}

Verb add_input(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand("input", "images a second on one core: decoded, augmented, normalised");
  auto o = std::make_shared<BenchInputOptions>();
  command->add_option("--data", o->data, "a folder of class folders or TFRecord shards")->required();
  command->add_option("--image-size", o->image_size, "pixels a side")
      ->transform(whole_number(1, 8192))
      ->capture_default_str();
  command->add_option("--seconds", o->seconds, "measure for so long")
      ->transform(seconds_range())
      ->capture_default_str();
  add_augment_flags(*command, {o->augment, o->random_erasing, o->mixing});
  command->add_flag("--whole", o->whole, "decode every image whole, where else only the part looked at is");
  return {command, [o] {
            print(bench_input(*o));
            return Exit::ok;
          }};
}

Verb add_step(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand("step", "training steps on this rank, or on all that mpiexec started");
  auto o = std::make_shared<BenchStepOptions>();
  command->add_option("--model", o->model, models_text())->check(known_model())->capture_default_str();
  command
      ->add_option("--data", o->data,
                   "synthetic, synthetic:CLASSESxPIXELS, or a folder of class folders or TFRecord shards")
      ->capture_default_str();
  command->add_option("--batch-size", o->batch_size, "images per replica")
      ->transform(batch_range())
      ->capture_default_str();
  command->add_option("--steps", o->steps, "measured steps")
      ->transform(whole_number(1, 1'000'000'000))
      ->capture_default_str();
  command->add_option("--warmup", o->warmup, "steps before the measured ones")
      ->transform(whole_number(0, 1'000'000'000))
      ->capture_default_str();
  command->add_option("--seconds", o->seconds, "measure for so long instead of by --steps (0: by --steps)")
      ->transform(number(0, 86400))
      ->capture_default_str();
  command->add_option("--image-size", o->image_size, "pixels a side (0: the model's own)")
      ->transform(image_size_range())
      ->capture_default_str();
  add_graphs_flag(*command, o->no_cuda_graphs);
  add_tune_flag(*command, o->tune);
  add_jpeg_decoder_flag(*command, o->jpeg_decoder);
  add_loader_threads_flag(*command, o->loader_threads);
  return on_all_ranks(command, o, bench_step);
}

Verb add_matmul(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand(
      "matmul", "a matrix product, its rows shared by all ranks that mpiexec started; each product is checked");
  auto o = std::make_shared<BenchMatmulOptions>();
  command->add_option("--size", o->size, "rows and columns of both factors")
      ->transform(whole_number(1, 65536))
      ->capture_default_str();
  command->add_option("--seconds", o->seconds, "measure for so long")
      ->transform(seconds_range())
      ->capture_default_str();
  return on_all_ranks(command, o, bench_matmul);
}

Verb add_all_reduce(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand(
      "allreduce", "sums over all ranks that mpiexec started, from 4 KiB up, as gradients are summed; all are checked");
  auto o = std::make_shared<BenchAllReduceOptions>();
  command->add_option("--bytes", o->bytes, "the largest sum")
      ->transform(whole_number(4, int64_t{1} << 32U))
      ->capture_default_str();
  command->add_option("--seconds", o->seconds, "measure each size for about so long")
      ->transform(seconds_range())
      ->capture_default_str();
  command->add_option("--device", o->device, "cpu or cuda, whose memories NCCL sums")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command->add_flag("--pairs", o->pairs, "the largest sum between ranks two and two as well");
  add_all_reduce_flag(*command, o->all_reduce);
  add_gradient_type_flag(*command, o->gradient_type);
  add_comm_flag(*command, o->comm);
  return {command, [o] {
            require_device(o->device, "fp32");
            const auto communicator = make_communicator(o->comm);
            bench_all_reduce(*o, *communicator, [&](const nlohmann::json& line) {
              if (communicator->rank() == 0) print(line);
            });
            tell_outcome(Exit::ok);
            return Exit::ok;
          }};
}

}  // namespace

Verb add_bench(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "measure; results are JSON, one object a line");
  command->require_subcommand(1);
  const std::vector<Verb> parts = {add_step(*command), add_input(*command), add_matmul(*command),
                                   add_all_reduce(*command)};
  return {command, [parts] {
            for (const Verb& part : parts) {
              if (part.command->parsed()) return part.action();
            }
            return Exit::usage;
          }};
}

}  // namespace trainyard
