#include "trainer/cli/flags/recipe_flags.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/error.h"
#include "trainer/cli/flags/numbers.h"

namespace trainyard {
namespace {

void add_batch_flags(CLI::App& command, TrainOptions& o) {
  const auto part = number(0, 1, End::included, End::left_out);
  command.add_option("--batch-size", o.batch_size, "images per replica and micro-batch")
      ->transform(batch_range())
      ->capture_default_str();
  command
      .add_option("--accumulate", o.accumulate,
                  "micro-batches a step, whose gradients are averaged: a step sees this many times more images")
      ->transform(whole_number(1, 65536))
      ->capture_default_str();
  command
      .add_option(
          "--planned-ranks", o.planned_ranks,
          "ranks (workers and servers) that --batch-size and --lr are meant for (0: as many as there are); with fewer, "
          "each worker takes a larger part of the same global batch")
      ->transform(whole_number(0, 65536))
      ->capture_default_str();
  command.add_flag("--sync-batch-norm", o.sync_batch_norm, "statistics over all replicas instead of each one's own");
  command.add_option(
      "--init-weights", o.init_weights,
      "a .safetensors file with torchvision's names to start from; a last layer of other classes is made new");
  command.add_option("--label-smoothing", o.label_smoothing, "this part of each label is shared by all classes")
      ->transform(part)
      ->capture_default_str();
  command
      .add_option("--dropout", o.dropout,
                  "this part of what the last layer sees is left out in training (left out: 0.5 for inception_v3)")
      ->transform(part);
  command
      .add_option("--early-stop", o.early_stop,
                  "end after so many evaluations (of --eval-data) without a better top-1 (0: never)")
      ->transform(whole_number(0, 1'000'000))
      ->capture_default_str();
}

void add_optimizer_flags(CLI::App& command, TrainOptions& options) {
  OptimizerOptions& o = options.optimizer;
  const auto part = number(0, 1, End::included, End::left_out);
  std::vector<std::string> kinds;
  for (const OptimizerInfo& known : known_optimizers()) kinds.push_back(known.kind);
  command.add_option("--optimizer", o.kind, "how gradients change weights")
      ->check(CLI::IsMember(kinds))
      ->capture_default_str();
  command.add_option("--momentum", o.momentum, "of sgd and lars")->transform(part)->capture_default_str();
  command.add_option("--trust-coefficient", o.trust, "of lars")
      ->transform(number(0, 1000, End::left_out))
      ->capture_default_str();
  command.add_option("--beta1", o.beta1, "of adam and adamw: decay of the gradient's mean")
      ->transform(part)
      ->capture_default_str();
  command.add_option("--beta2", o.beta2, "of adam and adamw: decay of its square's mean")
      ->transform(part)
      ->capture_default_str();
  command.add_option("--epsilon", o.epsilon, "of adam and adamw")
      ->transform(number(0, 1, End::left_out))
      ->capture_default_str();
  command
      .add_option("--weight-decay", o.weight_decay,
                  "not on batch norm and biases, unless --decay-norm-and-bias is given")
      ->transform(number(0, 1000))
      ->capture_default_str();
  command
      .add_option("--clip-norm", options.clip_norm,
                  "gradients longer than this, all together, are cut to it (0: never)")
      ->transform(number(0, 1e9))
      ->capture_default_str();
  command
      .add_option("--ema", options.ema,
                  "decay of a moving average of the weights, which checkpoints then have as their model (0: none)")
      ->transform(part)
      ->capture_default_str();
  command.add_option("--ema-every", options.ema_every, "steps between two weights that count in --ema's average")
      ->transform(whole_number(1, 1'000'000))
      ->capture_default_str();
  command.add_flag("--decay-norm-and-bias", o.decay_norm_and_bias, "weight decay on batch norm and biases too");
}

/// "30,60,80", which numbers() has looked at.
std::vector<double> epochs_of(const std::string& text) {
  std::vector<double> epochs;
  for (const std::string& word : CLI::detail::split(text, ',')) epochs.push_back(std::strtod(word.c_str(), nullptr));
  return epochs;
}

void add_rate_flags(CLI::App& command, TrainOptions& o) {
  command.add_option("--lr", o.lr, "peak learning rate (left out: 0.1 for sgd, 1 for lars, 0.001 for adam and adamw)")
      ->transform(number(0, 1e6, End::left_out));
  command.add_flag("--lr-scale-by-world", o.lr_scale_by_world,
                   "multiply --lr by the number of replicas; warm-up then starts at --lr");
  command.add_option("--warmup-epochs", o.warmup_epochs, "linear warm-up")
      ->transform(number(0, 1e6))
      ->capture_default_str();
  command
      .add_option("--lr-schedule", o.lr_schedule,
                  "after warm-up: down to 0 by a cosine, or by poly of power 2; or a tenth at each of --lr-steps")
      ->check(CLI::IsMember({"cosine", "poly", "step"}))
      ->capture_default_str();
  command
      .add_option_function<std::string>(
          "--lr-steps", [&o](const std::string& text) { o.lr_steps = epochs_of(text); },
          "epochs, like 30,60,80 (left out: at 30, 60 and 80 of 90 parts of the run)")
      ->type_name("FLOAT,…")
      ->transform(numbers(0, 1e6, End::left_out, End::included));
}

/// Flags that mean something only with some choices of another flag.
struct Bound {
  const char* flag;
  const char* to;
  std::string chosen;
  std::vector<std::string> choices;
};

std::string any_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " or ") + word;
  return text;
}

}  // namespace

void add_recipe_flags(CLI::App& command, TrainOptions& options) {
  add_batch_flags(command, options);
  add_optimizer_flags(command, options);
  add_rate_flags(command, options);
}

void check_recipe_flags(const CLI::App& command, const TrainOptions& options) {
  const std::string& optimizer = options.optimizer.kind;
  const std::string& strategy = options.strategy.kind;
  const std::vector<std::string> lockstep = {"auto", "mirrored", "multi-worker", "central-storage", "parameter-server"};
  const std::array<Bound, 12> bounds{
      {{"--momentum", "--optimizer", optimizer, {"sgd", "lars"}},
       {"--trust-coefficient", "--optimizer", optimizer, {"lars"}},
       {"--beta1", "--optimizer", optimizer, {"adam", "adamw"}},
       {"--beta2", "--optimizer", optimizer, {"adam", "adamw"}},
       {"--epsilon", "--optimizer", optimizer, {"adam", "adamw"}},
       {"--lr-steps", "--lr-schedule", options.lr_schedule, {"step"}},
       {"--allreduce", "--strategy", strategy, {"auto", "mirrored", "multi-worker"}},
       {"--gradient-type", "--strategy", strategy, {"auto", "mirrored", "multi-worker"}},
       {"--bucket-size", "--strategy", strategy, {"auto", "mirrored", "multi-worker", "central-storage"}},
       {"--servers", "--strategy", strategy, {"parameter-server", "parameter-server-async"}},
       {"--sync-batch-norm", "--strategy", strategy, lockstep},
       {"--lr-scale-by-world", "--strategy", strategy, lockstep}}};
  if (command.count("--steps") > 0 && command.count("--epochs") > 0 && options.steps > 0) {
    throw Error(Exit::usage, "--steps and --epochs both say how long to train. Give one of them");
  }
  for (const Bound& bound : bounds) {
    const bool fits = std::find(bound.choices.begin(), bound.choices.end(), bound.chosen) != bound.choices.end();
    if (fits || command.count(bound.flag) == 0) continue;
    throw Error(Exit::usage, std::string(bound.flag) + " has no meaning with " + bound.to + " " + bound.chosen +
                                 ". Leave it out, or use " + bound.to + " " + any_of(bound.choices));
  }
}

}  // namespace trainyard
