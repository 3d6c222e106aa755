// What a training run is going to do, decided before its first step and checked against where it
// resumes from.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/optim/loss_scaler.h"
#include "trainer/optim/schedule.h"
#include "trainer/train/plan/options.h"

namespace trainyard {

struct TrainPlan {
  int classes = 0;
  std::vector<std::string> class_names;
  size_t images = 0;
  int image_size = 0;
  int eval_image_size = 0;  ///< of the images on which checkpoints are judged and used
  int eval_resize = 0;      ///< pixels of their shorter side before the crop
  int world = 1;
  int planned_world = 1;  ///< replicas that batch size and learning rate are meant for
  int accumulate = 1;     ///< micro-batches of a replica's step
  int batch = 0;          ///< images per replica and micro-batch
  int64_t global_batch = 0;
  int64_t steps_per_epoch = 0;
  int64_t total_steps = 0;
  int64_t checkpoint_every = 0;
  double base_lr = 0;  ///< --lr, or the optimizer's own
  Schedule schedule;
  std::optional<std::string> resume_from;  ///< a checkpoint folder
  int64_t start_step = 0;
  std::vector<std::string> recipe_changes;  ///< of a resumed run: what it does otherwise than its checkpoint's run did
};

/// Throws Error(Exit::usage) for values that make no sense together.
void check_options(const TrainOptions& options);

/// Throws Error(Exit::usage) where the file is not there. Asked by the rank that reads it, in a run
/// that has no checkpoint of its own yet.
void require_init_weights(const TrainOptions& options);

/// Fills in world, planned_world, accumulate, batch and global_batch. world: the ranks that train.
/// Where fewer replicas are left than were planned, each takes more micro-batches of the same
/// global batch: order of images, learning rate and number of steps stay as they were, and so does
/// what the device's memory must hold. Throws Error(Exit::usage) when the batch cannot be shared
/// equally.
void share_batch(const TrainOptions& options, int world, TrainPlan& plan);

struct Resume {
  std::optional<std::string> from;          ///< a checkpoint folder; nothing begins anew
  std::vector<CheckpointInfo> passed_over;  ///< newer ones that are not valid, each with its reason
};

/// The checkpoint --resume names: `auto` (the newest valid one, or none where there are no
/// checkpoints), `none`, or a path. Throws Error(Exit::data) for `auto` where checkpoints exist and
/// none is valid, so that no run begins anew without a word; Error(Exit::usage) for `none` where a
/// valid one exists, so that two histories never mix.
Resume find_resume(const TrainOptions& options);

/// Fills in total_steps, schedule, start_step, recipe_changes. Throws Error(Exit::usage) when the
/// checkpoint belongs to another model, data set, global batch or optimizer.
void finish_plan(const TrainOptions& options, TrainPlan& plan);

/// state.json of a checkpoint at `step`; `scaler` of a run that scales its loss, or nullptr.
nlohmann::json checkpoint_state(const TrainOptions& options, const TrainPlan& plan, int64_t step,
                                const LossScaler* scaler);

/// The loss scale in state.json; nothing where the run before had none (another precision), which
/// then begins anew.
std::optional<LossScalerState> loss_scaler_state(const nlohmann::json& state);

}  // namespace trainyard
