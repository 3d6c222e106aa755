#include "trainer/train/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "common/checkpoint/checkpoint_folders.h"
#include "common/error.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/comm/communicator.h"
#include "trainer/data/pixels/augment.h"
#include "trainer/ops/plans/timed_plans.h"
#include "trainer/strategies/gradient_sums.h"
#include "trainer/train/plan/recipe.h"
#include "trainer/train/process/generation.h"
#include "trainer/train/process/jpeg_decoder.h"

namespace trainyard {
namespace {

constexpr int64_t most_images_of_a_rank = int64_t{1} << 24;  // a step's; memory ends long before

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

bool part_of_one(double value) { return value >= 0 && value < 1; }
bool may_mix(double alpha) { return alpha >= 0 && alpha <= kMostMixing; }

void check_optimizer(const OptimizerOptions& options) {
  require(part_of_one(options.momentum), "--momentum must be in [0, 1)");
  require(part_of_one(options.beta1) && part_of_one(options.beta2), "--beta1 and --beta2 must be in [0, 1)");
  require(options.epsilon > 0 && std::isfinite(options.epsilon), "--epsilon must be a number above 0");
  require(options.trust > 0 && std::isfinite(options.trust), "--trust-coefficient must be a number above 0");
  require(options.weight_decay >= 0 && std::isfinite(options.weight_decay),
          "--weight-decay must be a number that is not negative");
}

Decay decay_of(const std::string& schedule) {
  if (schedule == "cosine") return Decay::cosine;
  if (schedule == "poly") return Decay::poly;
  if (schedule == "step") return Decay::step;
  throw Error(Exit::usage, "--lr-schedule " + schedule + " is not known. Use cosine, poly or step");
}

/// Epochs as steps; only `step` has any.
std::vector<int64_t> drops_of(const TrainOptions& options, const TrainPlan& plan) {
  if (plan.schedule.decay != Decay::step) return {};
  if (options.lr_steps.empty()) return default_drops(plan.total_steps);
  std::vector<int64_t> drops;
  for (const double epoch : options.lr_steps) {
    drops.push_back(std::llround(epoch * static_cast<double>(plan.steps_per_epoch)));
  }
  return drops;
}

/// Into how many micro-batches a rank divides its `share` of a step: as few as are no larger than
/// --batch-size, which is what fits the device's memory. Where that would leave less than half of
/// --batch-size in each (7 images for 5, say), they are larger, since batch norm needs many images.
int64_t micro_batches(int64_t share, const TrainOptions& options, const TrainPlan& plan) {
  const int64_t planned = static_cast<int64_t>(options.accumulate) * plan.planned_world;
  const int64_t wanted = (planned + plan.world - 1) / plan.world;
  int64_t more = wanted;
  while (share % more != 0) ++more;
  if (2 * (share / more) >= options.batch_size) return more;
  int64_t fewer = wanted;
  while (share % fewer != 0) --fewer;
  return fewer;
}

double base_lr(const TrainOptions& options) {
  if (options.lr) return *options.lr;
  for (const OptimizerInfo& known : known_optimizers()) {
    if (known.kind == options.optimizer.kind) return known.lr;
  }
  throw Error(Exit::usage, "--optimizer " + options.optimizer.kind + " is not known. Use sgd, lars, adam or adamw");
}

[[noreturn]] void refuse_to_begin_anew(const TrainOptions& options, const std::vector<CheckpointInfo>& damaged) {
  constexpr size_t most_named = 5;
  std::string reasons;
  for (size_t at = 0; at < std::min(damaged.size(), most_named); ++at) {
    reasons += (at == 0 ? "" : "; ") + damaged[at].reason;
  }
  if (damaged.size() > most_named) reasons += "; and " + std::to_string(damaged.size() - most_named) + " more";
  throw Error(Exit::data, "none of the " + std::to_string(damaged.size()) + " checkpoints in " + options.run_dir +
                              "/checkpoints is valid (" + reasons +
                              "). Put a whole one back, or begin anew with --resume none");
}

/// Whether the checkpoint that --resume names is one of this run's folder.
bool is_own_checkpoint(const TrainOptions& options) {
  std::error_code ignored;
  const std::filesystem::path named = std::filesystem::path(options.resume + "/").lexically_normal().parent_path();
  return std::filesystem::equivalent(named.parent_path(), checkpoints_folder(options.run_dir), ignored);
}

Resume from_path(const TrainOptions& options, const NewestCheckpoint& newest) {
  require(std::filesystem::is_directory(options.resume),
          "--resume " + options.resume +
              " is not a checkpoint folder. Use auto, none, or a path like RUN/checkpoints/step-00000100");
  const int64_t step = read_checkpoint_state(options.resume).at("step").get<int64_t>();
  if (newest.valid && newest.valid->step > step) {
    require(false, "--resume " + options.resume + ", but the run has " + step_name(newest.valid->step) +
                       " already. Delete what is later, or begin another run from that checkpoint (trainyard "
                       "run-from)");
  }
  return {options.resume, {}};
}

}  // namespace

void check_options(const TrainOptions& options) {
  require(!options.data.empty(),
          "--data is missing. Give a folder of class folders or of TFRecord shards, or 'synthetic'");
  require(!options.run_dir.empty(), "--run-dir is missing. Give the folder that this run may write to");
  require(options.batch_size > 0, "--batch-size must be at least 1");
  require(options.planned_ranks >= 0, "--planned-ranks must not be negative");
  require(options.steps >= 0 && options.epochs > 0, "--steps and --epochs must be above 0");
  require(!options.lr || (*options.lr > 0 && std::isfinite(*options.lr)), "--lr must be a number above 0");
  check_optimizer(options.optimizer);
  require(options.accumulate >= 1, "--accumulate must be at least 1");
  require(!options.no_cuda_graphs || options.device == "cuda",
          "--no-cuda-graphs is about GPUs. Leave it out, or use --device cuda");
  check_tune(options.tune, options.device);
  require(!options.memory_growth || options.device == "cuda",
          "--memory-growth is about the memory of GPUs, and --device cpu has none. Leave it out, or use --device cuda");
  check_jpeg_decoder({.decoder = options.jpeg_decoder, .device = options.device, .cache = options.cache});
  require(options.min_object_covered >= 0 && options.min_object_covered <= 1,
          "--min-object-covered must be in (0, 1], or 0 to look at no boxes");
  require(options.min_object_covered == 0 || options.augment != "none",
          "--min-object-covered is about random crops, and --augment none makes none. Leave one of them out");
  require(options.random_erasing >= 0 && options.random_erasing <= 1, "--random-erasing must be in [0, 1]");
  require(may_mix(options.mixing.mixup), "--mixup must be in (0, 100], or 0 for none");
  require(may_mix(options.mixing.cutmix), "--cutmix must be in (0, 100], or 0 for none");
  require(options.repeated_augmentation >= 1, "--repeated-augmentation must be at least 1");
  require(options.repeated_augmentation == 1 || options.augment != "none" || options.random_erasing > 0,
          "--repeated-augmentation repeats images to augment each time anew, and --augment none changes none. Leave "
          "one of them out");
  require(options.repeated_augmentation == 1 || options.shuffle_buffer == 0,
          "--shuffle-buffer draws from the first images of the order, and with --repeated-augmentation an epoch has "
          "only a part of the order: the images at its end would never be seen. Leave one of them out");
  // Each of them would be rank 0, and write the same run folder.
  require(options.comm != "none" || processes_of_mpiexec() == 1,
          "--comm none is for one process, and mpiexec started several. Leave it out");
  check_comm({.comm = options.comm, .device = options.device, .gpu = ""});
  require(options.clip_norm >= 0 && std::isfinite(options.clip_norm),
          "--clip-norm must be a number that is not negative");
  require(part_of_one(options.ema), "--ema must be in (0, 1), or 0 for none");
  require(options.ema_every >= 1, "--ema-every must be at least 1");
  require(part_of_one(options.label_smoothing), "--label-smoothing must be in [0, 1)");
  require(!options.dropout || part_of_one(*options.dropout), "--dropout must be in [0, 1)");
  require(options.early_stop >= 0, "--early-stop must not be negative");
  require(options.early_stop == 0 || !options.eval_data.empty(),
          "--early-stop counts evaluations, which need --eval-data. Give both");
  require(options.eval_on == "head" || !options.eval_data.empty(),
          "--eval-on ranks evaluates on --eval-data, which is missing. Give both");
  for (size_t i = 0; i < options.lr_steps.size(); ++i) {
    require(std::isfinite(options.lr_steps[i]) && options.lr_steps[i] > (i == 0 ? 0 : options.lr_steps[i - 1]),
            "--lr-steps must be rising numbers of epochs above 0, like 30,60,80");
  }
  require(options.warmup_epochs >= 0, "--warmup-epochs must not be negative");
  require(options.keep >= 1, "--keep must be at least 1");
  require(options.checkpoint_every >= 0 && options.log_every >= 1,
          "--checkpoint-every and --log-every must not be negative");
  require(options.shuffle_buffer >= 0, "--shuffle-buffer must not be negative; 0 mixes each epoch whole");
  require(options.prefetch >= 1, "--prefetch must be at least 1");
  require(options.loader_threads >= 0, "--loader-threads must not be negative; 0 takes as many as suit the device");
}

void require_init_weights(const TrainOptions& options) {
  require(options.init_weights.empty() || std::filesystem::exists(options.init_weights),
          "--init-weights " + options.init_weights + " does not exist");
}

void share_batch(const TrainOptions& options, int world, TrainPlan& plan) {
  plan.world = world;
  // Ranks are planned together; batches and rates are the workers'.
  const int planned_workers = options.planned_ranks - server_count(options.strategy);
  plan.planned_world = options.planned_ranks > 0 ? planned_workers : world;
  require(plan.planned_world > 0, "--planned-ranks counts servers too, and leaves none to train. Give more of them");
  plan.global_batch = static_cast<int64_t>(options.batch_size) * options.accumulate * plan.planned_world;
  require(plan.global_batch % world == 0, "the " + std::to_string(plan.global_batch) +
                                              " images of a step cannot be shared equally by " + std::to_string(world) +
                                              " ranks. Use a --batch-size that can, or another number of ranks");
  const int64_t share = plan.global_batch / world;
  require(share <= most_images_of_a_rank, "a step has " + std::to_string(share) + " images for each rank, more than " +
                                              std::to_string(most_images_of_a_rank) +
                                              ". Lower --batch-size or --accumulate");
  plan.accumulate = static_cast<int>(micro_batches(share, options, plan));
  plan.batch = static_cast<int>(share / plan.accumulate);
}

Resume find_resume(const TrainOptions& options) {
  NewestCheckpoint newest = find_newest_checkpoint(options.run_dir);
  const bool anew = options.resume == "none";
  const bool named = !anew && options.resume != "auto";
  // A restart that nobody asked for goes on with what the run has made since its first start.
  const bool goes_on = newest.valid && restarts_by_itself();
  require(!anew || !newest.valid || goes_on,
          "--resume none, but " + options.run_dir + " holds checkpoints. Use --resume auto, or another --run-dir");
  if (!anew && !newest.valid && !newest.passed_over.empty()) refuse_to_begin_anew(options, newest.passed_over);
  if (named && !goes_on && (!newest.valid || is_own_checkpoint(options))) return from_path(options, newest);
  if (named) {
    std::fprintf(stderr, "trainer: note: goes on from %s of this run, not from --resume %s\n",
                 step_name(newest.valid->step).c_str(), options.resume.c_str());
  }
  Resume resume{std::nullopt, std::move(newest.passed_over)};
  if (newest.valid) resume.from = newest.valid->path;
  return resume;
}

void finish_plan(const TrainOptions& options, TrainPlan& plan) {
  const auto per_epoch = static_cast<double>(plan.steps_per_epoch);
  plan.total_steps = options.steps > 0 ? options.steps : std::llround(options.epochs * per_epoch);
  plan.total_steps = std::max<int64_t>(plan.total_steps, 1);
  plan.checkpoint_every = options.checkpoint_every > 0 ? options.checkpoint_every : plan.steps_per_epoch;
  plan.schedule.decay = decay_of(options.lr_schedule);
  plan.base_lr = base_lr(options);
  plan.schedule.start_lr = plan.base_lr;
  plan.schedule.peak_lr = options.lr_scale_by_world ? plan.base_lr * plan.planned_world : plan.base_lr;
  if (!options.lr_scale_by_world && options.warmup_epochs > 0) plan.schedule.start_lr = 0;
  plan.schedule.warmup_steps = std::llround(options.warmup_epochs * per_epoch);
  plan.schedule.total_steps = plan.total_steps;
  plan.schedule.drops = drops_of(options, plan);
  require(plan.schedule.warmup_steps <= plan.total_steps, "--warmup-epochs is longer than the run");
  if (!plan.resume_from) return;
  nlohmann::json state = read_checkpoint_state(*plan.resume_from);
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
  // Checkpoints of before the flag was there mixed each epoch whole.
  if (!state.contains("shuffle_buffer")) state["shuffle_buffer"] = 0;
  require_same(state, "shuffle_buffer", options.shuffle_buffer, *plan.resume_from);
  // Likewise, they repeated no image.
  if (!state.contains("repeated_augmentation")) state["repeated_augmentation"] = 1;
  require_same(state, "repeated_augmentation", options.repeated_augmentation, *plan.resume_from);
  require_same(state, "optimizer", options.optimizer.kind, *plan.resume_from);
  plan.start_step = state.at("step").get<int64_t>();
  plan.recipe_changes = recipe_changes(state, recipe_of(options, plan));
  const int judged_before = state.value("eval_image_size", plan.image_size);
  if (!options.eval_data.empty() && judged_before != plan.eval_image_size) {
    plan.recipe_changes.push_back("eval_image_size: " + std::to_string(judged_before) + ", now " +
                                  std::to_string(plan.eval_image_size) + ", so accuracies before are no measure");
  }
  const int resized_before = state.value("eval_resize", evaluation_resize(judged_before));
  if (!options.eval_data.empty() && judged_before == plan.eval_image_size && resized_before != plan.eval_resize) {
    plan.recipe_changes.push_back("eval_resize: " + std::to_string(resized_before) + ", now " +
                                  std::to_string(plan.eval_resize) + ", so accuracies before are no measure");
  }
}

std::optional<LossScalerState> loss_scaler_state(const nlohmann::json& state) {
  const auto kept = state.find("loss_scaler");
  if (kept == state.end() || kept->is_null()) return std::nullopt;
  try {
    return LossScalerState{kept->at("scale").get<float>(), kept->at("good_steps").get<int64_t>(),
                           kept->at("skipped").get<int64_t>()};
  } catch (const nlohmann::json::exception& error) {
    throw Error(Exit::data, std::string("the loss scale of a checkpoint cannot be read: ") + error.what() +
                                ". Resume from another one");
  }
}

nlohmann::json checkpoint_state(const TrainOptions& options, const TrainPlan& plan, int64_t step,
                                const LossScaler* scaler) {
  nlohmann::json scaling = nullptr;
  if (scaler != nullptr) {
    scaling = {{"scale", scaler->scale()}, {"good_steps", scaler->good_steps()}, {"skipped", scaler->skipped()}};
  }
  return {{"version", 1},
          {"step", step},
          {"generation", generation_from_environment()},
          {"seed", options.seed},
          {"world", plan.world},
          {"batch_size", plan.batch},
          {"accumulate", plan.accumulate},
          {"global_batch", plan.global_batch},
          {"samples_seen", step * plan.global_batch},
          {"model", options.model},
          {"classes", plan.classes},
          {"class_names", plan.class_names},
          {"label_offset", options.label_offset.value_or(0)},
          {"image_size", plan.image_size},
          {"eval_image_size", plan.eval_image_size},
          {"eval_resize", plan.eval_resize},
          {"dataset_images", plan.images},
          {"shuffle_buffer", options.shuffle_buffer},
          {"repeated_augmentation", options.repeated_augmentation},
          {"augment", options.augment},
          {"optimizer", options.optimizer.kind},
          {"strategy", options.strategy.kind},
          {"precision", options.precision},
          {"loss_scaler", scaling},
          {"total_steps", plan.total_steps},
          {"recipe", recipe_of(options, plan)},
          {"schedule",
           {{"kind", options.lr_schedule},
            {"base_lr", plan.base_lr},
            {"peak_lr", plan.schedule.peak_lr},
            {"warmup_steps", plan.schedule.warmup_steps},
            {"drops", plan.schedule.drops},
            {"total_steps", plan.schedule.total_steps}}}};
}

}  // namespace trainyard
