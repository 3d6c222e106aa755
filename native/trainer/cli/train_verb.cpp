#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/outcome.h"
#include "trainer/cli/flags/augment_flags.h"
#include "trainer/cli/flags/device_flags.h"
#include "trainer/cli/flags/numbers.h"
#include "trainer/cli/flags/recipe_flags.h"
#include "trainer/cli/flags/strategy_flags.h"
#include "trainer/cli/verbs.h"
#include "trainer/models/network.h"
#include "trainer/train/ending/given_up.h"
#include "trainer/train/loop/train.h"

namespace trainyard {
namespace {

constexpr int64_t most_steps = 1'000'000'000'000;

void add_run_flags(CLI::App& command, TrainOptions& o) {
  command.add_option("--model", o.model, models_text())->capture_default_str();
  command.add_option(
      "--data", o.data,
      "a folder of class folders of JPEG or PNG files, a folder of TFRecord shards (of several kinds the train "
      "ones; FOLDER/NAME: those whose names begin so), synthetic, or synthetic:CLASSESxPIXELS");
  command
      .add_option("--label-offset", o.label_offset,
                  "subtracted from the labels in TFRecord shards: 1 where their classes are numbered from 1")
      ->transform(label_offset_range());
  command.add_option("--eval-data", o.eval_data,
                     "the images on which checkpoints are evaluated (of shards of several kinds the validation ones)");
  command
      .add_option(
          "--eval-on", o.eval_on,
          "what evaluates: head, where the agent runs a process beside the training, on the CPU; or ranks, all of "
          "them with their devices, after each checkpoint, while the training waits")
      ->check(CLI::IsMember({"head", "ranks"}))
      ->capture_default_str();
  command.add_option("--run-dir", o.run_dir, "the folder for metrics, event files and checkpoints; made when missing");
  command.add_option("--steps", o.steps, "updates in all (0: by --epochs)")
      ->transform(whole_number(0, most_steps))
      ->capture_default_str();
  command.add_option("--epochs", o.epochs, "passes over the data")
      ->transform(number(0, 1e6, End::left_out))
      ->capture_default_str();
  command.add_option("--seed", o.seed, "the same seed and world give the same weights, bit for bit")
      ->transform(seed_range())
      ->capture_default_str();
  command.add_option("--log-every", o.log_every, "steps between lines of metrics")
      ->transform(whole_number(1, most_steps))
      ->capture_default_str();
}

void add_data_flags(CLI::App& command, TrainOptions& o) {
  add_augment_flags(command, {o.augment, o.random_erasing, o.mixing});
  command
      .add_option("--min-object-covered", o.min_object_covered,
                  "a random crop shows at least this part of one of the image's bounding boxes, which trainer prep "
                  "--boxes puts into shards (left out: boxes are not looked at)")
      ->transform(number(0, 1, End::left_out));
  command
      .add_option("--repeated-augmentation", o.repeated_augmentation,
                  "an epoch has each of its images this many times, each augmented anew and on another replica "
                  "(1: once; torchvision's newer recipes: 4)")
      ->transform(whole_number(1, 1024))
      ->capture_default_str();
  command.add_option("--cache", o.cache, "keep decoded images in memory: none or ram")
      ->check(CLI::IsMember({"none", "ram"}))
      ->capture_default_str();
  add_jpeg_decoder_flag(command, o.jpeg_decoder);
  command
      .add_option("--shuffle-buffer", o.shuffle_buffer,
                  "images are drawn from this many while the data go by in order, as tf.data's shuffle does (0: each "
                  "epoch is mixed whole, which is better and costs nothing more)")
      ->transform(whole_number(0, most_steps))
      ->capture_default_str();
  command.add_option("--prefetch", o.prefetch, "batches decoded ahead")
      ->transform(whole_number(1, 1024))
      ->capture_default_str();
  add_loader_threads_flag(command, o.loader_threads);
  command
      .add_option("--max-bad-images", o.max_bad_images,
                  "unreadable images are named and replaced; more than this end the run")
      ->transform(whole_number(0, most_steps))
      ->capture_default_str();
  command.add_option("--image-size", o.image_size, "pixels a side (0: the model's own)")
      ->transform(image_size_range())
      ->capture_default_str();
  command
      .add_option("--eval-image-size", o.eval_image_size,
                  "pixels a side of the images on which checkpoints are evaluated and used (0: as --image-size)")
      ->transform(image_size_range())
      ->capture_default_str();
  command
      .add_option("--eval-resize", o.eval_resize,
                  "pixels of an image's shorter side before evaluation crops it (0: 256 for 224, likewise else)")
      ->transform(image_size_range())
      ->capture_default_str();
  command
      .add_option("--retry-seconds", o.retry_seconds,
                  "for how long an image is read again while its disk or server fails (EIO, ESTALE, …); 0: not at all")
      ->transform(number(0, 86'400))
      ->capture_default_str();
}

void add_machine_flags(CLI::App& command, TrainOptions& o) {
  add_device_flags(command, o.device, o.precision);
  command
      .add_option("--threads", o.threads,
                  "compute threads (0: OMP_NUM_THREADS, else the cores shared by this host's ranks)")
      ->transform(threads_or_own_range())
      ->capture_default_str();
  command.add_flag("--memory-growth", o.memory_growth,
                   "on a GPU: takes the memory for activations, the largest part, with the first step instead of "
                   "before it. More than the plan is never taken, either way");
  add_graphs_flag(command, o.no_cuda_graphs);
  add_tune_flag(command, o.tune);
  add_comm_flag(command, o.comm);
  command.add_option("--checkpoint-every", o.checkpoint_every, "steps between checkpoints (0: an epoch)")
      ->transform(whole_number(0, most_steps))
      ->capture_default_str();
  command.add_option("--keep", o.keep, "newest checkpoints kept, besides the best one")
      ->transform(whole_number(1, 1'000'000))
      ->capture_default_str();
  command
      .add_option("--resume", o.resume, "auto (the newest valid checkpoint of --run-dir), none, or a checkpoint folder")
      ->capture_default_str();
}

}  // namespace

std::string models_text() {
  std::string text;
  for (const ModelInfo& model : known_models()) {
    text += (text.empty() ? "" : ", ") + model.name + " (" + std::to_string(model.image_size) + " px)";
  }
  return text;
}

CLI::Validator known_model() {
  const auto check = [](const std::string& name) -> std::string {
    const auto& known = known_models();
    const bool is_known =
        std::any_of(known.begin(), known.end(), [&](const auto& model) { return model.name == name; });
    return is_known ? "" : name + " is not known. Use one of " + models_text();
  };
  return {check, "", "model"};
}

Verb add_train(CLI::App& app) {
  CLI::App* command = app.add_subcommand("train", "train a network on this process, or on all that mpiexec started");
  auto options = std::make_shared<TrainOptions>();
  add_run_flags(*command, *options);
  add_recipe_flags(*command, *options);
  add_strategy_flags(*command, options->strategy);
  add_data_flags(*command, *options);
  add_machine_flags(*command, *options);
  return {command, [command, options] {
            check_recipe_flags(*command, *options);
            require_device(options->device, options->precision);
            const StopSignals signals;  // before MPI and its threads
            const auto communicator = make_communicator(options->comm, ask_supervisor(options->run_dir));
            const Exit exit = train(*options, *communicator, signals);
            tell_outcome(exit);  // before MPI ends, which may go wrong without harm
            return exit;
          }};
}

}  // namespace trainyard
