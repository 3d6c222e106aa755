#include <cstdio>
#include <memory>

#include "trainer/cli/verbs.h"
#include "trainer/train/bench_input.h"
#include "trainer/train/bench_step.h"

namespace trainyard {

namespace {

std::shared_ptr<BenchInputOptions> add_input(CLI::App& command) {
  CLI::App* input = command.add_subcommand(
      "input", "images a second on one core: decoded, a random part resized, mirrored, normalised");
  auto o = std::make_shared<BenchInputOptions>();
  input->add_option("--data", o->data, "a folder of class folders or TFRecord shards")->required();
  input->add_option("--image-size", o->image_size, "pixels a side")->check(CLI::PositiveNumber)->capture_default_str();
  input->add_option("--seconds", o->seconds, "measure for so long")->check(CLI::PositiveNumber)->capture_default_str();
  input->add_flag("--whole", o->whole, "decode every image whole, where else only the part looked at is");
  return o;
}

}  // namespace

Verb add_bench(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "measure; results are JSON, one object a line");
  command->require_subcommand(1);
  const auto input = add_input(*command);
  CLI::App* step = command->add_subcommand("step", "training steps on this rank, or on all that mpiexec started");
  auto o = std::make_shared<BenchStepOptions>();
  step->add_option("--model", o->model, models_text())->capture_default_str();
  step->add_option("--data", o->data,
                   "synthetic, synthetic:CLASSESxPIXELS, or a folder of class folders or TFRecord shards")
      ->capture_default_str();
  step->add_option("--batch-size", o->batch_size, "images per replica")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_precision_flag(*step, o->precision);
  step->add_option("--device", o->device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}))->capture_default_str();
  step->add_option("--steps", o->steps, "measured steps")->check(CLI::PositiveNumber)->capture_default_str();
  step->add_option("--warmup", o->warmup, "steps before the measured ones")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  step->add_option("--seconds", o->seconds, "measure for so long instead of by --steps")->capture_default_str();
  step->add_option("--image-size", o->image_size, "pixels a side (0: the model's own)")->capture_default_str();
  step->add_option("--threads", o->threads, "compute threads of each rank")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  step->add_option("--comm", o->comm, "auto, mpi or none")->capture_default_str();
  return {command, [command, input, o] {
            if (command->got_subcommand("input")) {
              std::printf("%s\n", bench_input(*input).dump().c_str());
              return Exit::ok;
            }
            const auto communicator = make_communicator(o->comm);
            const auto result = bench_step(*o, *communicator);
            if (communicator->rank() == 0) std::printf("%s\n", result.dump().c_str());
            return Exit::ok;
          }};
}

}  // namespace trainyard
