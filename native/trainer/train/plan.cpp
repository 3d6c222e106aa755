#include "trainer/train/plan.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "common/error.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/train/metrics_log.h"

namespace trainyard {
namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw Error(Exit::usage, message);
}

template <typename T>
void require_same(const nlohmann::json& state, const char* field, const T& ours, const std::string& where) {
  const T theirs = state.at(field).get<T>();
  if (theirs == ours) return;
  const nlohmann::json said = {{"checkpoint", theirs}, {"now", ours}};
  throw Error(Exit::usage, std::string("the checkpoint ") + where + " was made with another " + field + " " +
                               said.dump() + ". Use the same flags, or another --run-dir");
}

}  // namespace

void check_options(const TrainOptions& options) {
  require(!options.data.empty(),
          "--data is missing. Give a folder of class folders or of TFRecord shards, or 'synthetic'");
  require(!options.run_dir.empty(), "--run-dir is missing. Give the folder that this run may write to");
  require(options.batch_size > 0, "--batch-size must be at least 1");
  require(options.planned_ranks >= 0, "--planned-ranks must not be negative");
  require(options.steps >= 0 && options.epochs > 0, "--steps and --epochs must be above 0");
  require(options.lr > 0 && std::isfinite(options.lr), "--lr must be a number above 0");
  require(options.momentum >= 0 && options.momentum < 1, "--momentum must be in [0, 1)");
  require(options.weight_decay >= 0, "--weight-decay must not be negative");
  require(options.warmup_epochs >= 0, "--warmup-epochs must not be negative");
  require(options.keep >= 1, "--keep must be at least 1");
  require(options.checkpoint_every >= 0 && options.log_every >= 1,
          "--checkpoint-every and --log-every must not be negative");
  require(options.prefetch >= 1 && options.loader_threads >= 1, "--prefetch and --loader-threads must be at least 1");
  require(options.init_weights.empty() || std::filesystem::exists(options.init_weights),
          "--init-weights " + options.init_weights + " does not exist");
}

void share_batch(const TrainOptions& options, int world, TrainPlan& plan) {
  plan.world = world;
  plan.planned_world = options.planned_ranks > 0 ? options.planned_ranks : world;
  plan.global_batch = static_cast<int64_t>(options.batch_size) * plan.planned_world;
  require(plan.global_batch % world == 0, "the " + std::to_string(plan.global_batch) +
                                              " images of a step cannot be shared equally by " + std::to_string(world) +
                                              " ranks. Use a --batch-size that can, or another number of ranks");
  plan.batch = static_cast<int>(plan.global_batch / world);
}

std::optional<std::string> find_resume(const TrainOptions& options) {
  if (options.resume == "auto") {
    const auto newest = newest_valid_checkpoint(options.run_dir);
    return newest ? std::optional(newest->path) : std::nullopt;
  }
  if (options.resume == "none") {
    require(list_checkpoints(options.run_dir, false).empty(),
            "--resume none, but " + options.run_dir + " holds checkpoints. Use --resume auto, or another --run-dir");
    return std::nullopt;
  }
  require(std::filesystem::is_directory(options.resume),
          "--resume " + options.resume +
              " is not a checkpoint folder. Use auto, none, or a path like RUN/checkpoints/step-00000100");
  return options.resume;
}

void finish_plan(const TrainOptions& options, TrainPlan& plan) {
  const auto per_epoch = static_cast<double>(plan.steps_per_epoch);
  plan.total_steps = options.steps > 0 ? options.steps : std::llround(options.epochs * per_epoch);
  plan.total_steps = std::max<int64_t>(plan.total_steps, 1);
  plan.checkpoint_every = options.checkpoint_every > 0 ? options.checkpoint_every : plan.steps_per_epoch;
  plan.schedule.start_lr = options.lr;
  plan.schedule.peak_lr = options.lr_scale_by_world ? options.lr * plan.planned_world : options.lr;
  if (!options.lr_scale_by_world && options.warmup_epochs > 0) plan.schedule.start_lr = 0;
  plan.schedule.warmup_steps = std::llround(options.warmup_epochs * per_epoch);
  plan.schedule.total_steps = plan.total_steps;
  require(plan.schedule.warmup_steps <= plan.total_steps, "--warmup-epochs is longer than the run");
  if (!plan.resume_from) return;
  const nlohmann::json state = read_checkpoint_state(*plan.resume_from);
  require_same(state, "model", options.model, *plan.resume_from);
  require_same(state, "classes", plan.classes, *plan.resume_from);
  require_same(state, "class_names", plan.class_names, *plan.resume_from);
  if (state.contains("label_offset")) {
    require_same(state, "label_offset", options.label_offset.value_or(0), *plan.resume_from);
  }
  require_same(state, "image_size", plan.image_size, *plan.resume_from);
  require_same(state, "dataset_images", plan.images, *plan.resume_from);
  require_same(state, "global_batch", plan.global_batch, *plan.resume_from);
  require_same(state, "seed", options.seed, *plan.resume_from);
  plan.start_step = state.at("step").get<int64_t>();
}

nlohmann::json checkpoint_state(const TrainOptions& options, const TrainPlan& plan, int64_t step) {
  return {{"version", 1},
          {"step", step},
          {"generation", generation_from_environment()},
          {"seed", options.seed},
          {"world", plan.world},
          {"batch_size", plan.batch},
          {"global_batch", plan.global_batch},
          {"samples_seen", step * plan.global_batch},
          {"model", options.model},
          {"classes", plan.classes},
          {"class_names", plan.class_names},
          {"label_offset", options.label_offset.value_or(0)},
          {"image_size", plan.image_size},
          {"dataset_images", plan.images},
          {"augment", options.augment},
          {"optimizer", options.optimizer},
          {"total_steps", plan.total_steps},
          {"schedule",
           {{"kind", options.lr_schedule},
            {"base_lr", options.lr},
            {"peak_lr", plan.schedule.peak_lr},
            {"warmup_steps", plan.schedule.warmup_steps},
            {"total_steps", plan.schedule.total_steps}}}};
}

}  // namespace trainyard
