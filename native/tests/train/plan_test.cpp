// What the command line asks for, as a plan: batches, rates, and what is refused.
#include "trainer/train/plan/plan.h"

#include <gtest/gtest.h>

#include <functional>

#include "common/error.h"
#include "trainer/train/loop/setup.h"
#include "trainer/train/process/use_threads.h"

namespace trainyard {
namespace {

TrainOptions options() {
  TrainOptions o;
  o.data = "synthetic";
  o.run_dir = "/nowhere";
  return o;
}

TrainPlan plan(const TrainOptions& o, int world) {
  TrainPlan made;
  share_batch(o, world, made);
  made.steps_per_epoch = 50;
  finish_plan(o, made);
  return made;
}

std::string refusal(const std::function<void(TrainOptions&)>& change) {
  TrainOptions o = options();
  change(o);
  try {
    check_options(o);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::usage);
    return error.what();
  }
  return "";
}

TEST(Plans, CountMicroBatchesInTheGlobalBatch) {
  TrainOptions o = options();
  o.batch_size = 8;
  o.accumulate = 3;
  EXPECT_EQ(plan(o, 4).global_batch, 96);
  EXPECT_EQ(plan(o, 4).batch, 8);
}

struct Shared {
  int batch;       ///< images of a micro-batch
  int accumulate;  ///< micro-batches of a step
  bool operator==(const Shared&) const = default;
};

/// How `world` ranks share the step that was planned for `planned` ranks.
Shared shared(int batch, int accumulate, int planned, int world) {
  TrainOptions o = options();
  o.batch_size = batch;
  o.accumulate = accumulate;
  o.planned_ranks = planned;
  const TrainPlan made = plan(o, world);
  EXPECT_EQ(made.global_batch, batch * accumulate * planned);
  EXPECT_EQ(made.batch * made.accumulate * world, made.global_batch);
  const nlohmann::json state = checkpoint_state(o, made, 1, nullptr);
  EXPECT_EQ(state.at("batch_size"), made.batch);
  EXPECT_EQ(state.at("accumulate"), made.accumulate);
  return {made.batch, made.accumulate};
}

TEST(Plans, RefuseCropsThatLookAtNoBoxes) {
  const auto covered = [](double least, const char* augment) {
    return refusal([&](TrainOptions& o) {
      o.min_object_covered = least;
      o.augment = augment;
    });
  };
  EXPECT_EQ(covered(0.1, "standard"), "");
  EXPECT_EQ(covered(1, "trivial"), "");
  EXPECT_NE(covered(0.1, "none").find("--augment none makes none"), std::string::npos);
  EXPECT_NE(covered(1.5, "standard").find("must be in (0, 1]"), std::string::npos);
  TrainOptions o = options();
  o.model = "resnet20";
  o.min_object_covered = 0.1;
  TrainPlan made;
  EXPECT_THROW(choose_image_sizes(o, made), Error) << "of 32 pixels";
  o.image_size = 65;
  choose_image_sizes(o, made);
  EXPECT_EQ(made.image_size, 65);
}

TEST(Plans, TakeMoreMicroBatchesWithFewerRanksSoThatMemoryHolds) {
  EXPECT_EQ(shared(32, 1, 4, 4), (Shared{32, 1}));
  EXPECT_EQ(shared(32, 1, 4, 2), (Shared{32, 2}));
  EXPECT_EQ(shared(8, 3, 4, 2), (Shared{8, 6}));
  EXPECT_EQ(shared(32, 1, 256, 1), (Shared{32, 256}));
  // Where the ranks do not divide, they are smaller, but never larger.
  EXPECT_EQ(shared(32, 1, 24, 16), (Shared{24, 2}));
  EXPECT_EQ(shared(32, 1, 5, 4), (Shared{20, 2}));
  EXPECT_EQ(shared(8, 3, 4, 3), (Shared{8, 4}));
  // More ranks than planned need fewer of them.
  EXPECT_EQ(shared(32, 4, 2, 4), (Shared{32, 2}));
  EXPECT_EQ(shared(32, 1, 2, 4), (Shared{16, 1}));
  // 5 images are not divided into 5 batches of 1.
  EXPECT_EQ(shared(4, 1, 5, 4), (Shared{5, 1}));
  EXPECT_THROW(shared(32, 1, 4, 3), Error);
}

TEST(Plans, RefuseADecoderOfJpegsThatDoesNotGoWithTheRest) {
  const auto on = [](const char* device, const char* cache) {
    return refusal([=](TrainOptions& o) {
      o.jpeg_decoder = "nvjpeg";
      o.device = device;
      o.cache = cache;
    });
  };
  EXPECT_EQ(on("cuda", "none"), "");
  EXPECT_NE(on("cpu", "none").find("use --device cuda"), std::string::npos) << on("cpu", "none");
  EXPECT_NE(on("cuda", "ram").find("--cache ram"), std::string::npos) << on("cuda", "ram");
  EXPECT_EQ(refusal([](TrainOptions& o) { o.cache = "ram"; }), "");
}

TEST(Plans, DecodeOnAllCoresOfARankWhoseGpuComputes) {
  EXPECT_EQ(decoding_threads(0, "cpu", 6), 1);
  EXPECT_EQ(decoding_threads(0, "cuda", 6), 6);
  EXPECT_EQ(decoding_threads(3, "cpu", 6), 3);
  EXPECT_EQ(decoding_threads(3, "cuda", 6), 3);
  EXPECT_NE(refusal([](TrainOptions& o) { o.loader_threads = -1; }).find("--loader-threads"), std::string::npos);
  EXPECT_EQ(refusal([](TrainOptions& o) { o.loader_threads = 0; }), "");
}

TEST(Plans, StateKeepsTheLossScaleOfARunThatHasOne) {
  const TrainOptions o = options();
  const TrainPlan made = plan(o, 1);
  EXPECT_FALSE(loss_scaler_state(checkpoint_state(o, made, 7, nullptr)));
  EXPECT_FALSE(loss_scaler_state({{"step", 7}})) << "of an older trainer";
  LossScaler scaler({.scale = 0x1p40F, .growth_interval = 9});
  for (const bool good : {false, true, true}) scaler.update(good);
  nlohmann::json state = nlohmann::json::parse(checkpoint_state(o, made, 7, &scaler).dump());
  const auto kept = loss_scaler_state(state);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->scale, 0x1p39F);
  EXPECT_EQ(kept->good, 2);
  EXPECT_EQ(kept->skipped, 1);
  state["loss_scaler"]["scale"] = "much";
  EXPECT_THROW(loss_scaler_state(state), Error);
  state["loss_scaler"] = 3;
  EXPECT_THROW(loss_scaler_state(state), Error);
}

TEST(Plans, ScaleTheRateByTheWorldAndWarmUpFromTheRateOfOne) {
  TrainOptions o = options();
  o.lr = 0.2;
  o.warmup_epochs = 2;
  EXPECT_EQ(plan(o, 4).schedule.start_lr, 0);
  EXPECT_EQ(plan(o, 4).schedule.peak_lr, 0.2);
  o.lr_scale_by_world = true;
  const Schedule schedule = plan(o, 4).schedule;
  EXPECT_EQ(schedule.start_lr, 0.2);
  EXPECT_DOUBLE_EQ(schedule.peak_lr, 0.8);
  EXPECT_EQ(schedule.warmup_steps, 100);
  EXPECT_DOUBLE_EQ(schedule.at(49), 0.5);
  EXPECT_DOUBLE_EQ(schedule.at(100), 0.8);
}

TEST(Plans, GiveEachOptimizerItsOwnRateUnlessTold) {
  for (const OptimizerInfo& known : known_optimizers()) {
    TrainOptions o = options();
    o.optimizer.kind = known.kind;
    EXPECT_EQ(plan(o, 1).schedule.peak_lr, known.lr);
    o.lr = 0.03;
    EXPECT_EQ(plan(o, 1).schedule.peak_lr, 0.03);
  }
}

TEST(Plans, DropByEpochs) {
  TrainOptions o = options();
  o.epochs = 9;
  o.lr_schedule = "step";
  EXPECT_EQ(plan(o, 1).schedule.drops, (std::vector<int64_t>{150, 300, 400}));
  o.lr_steps = {1, 2.5};
  EXPECT_EQ(plan(o, 1).schedule.drops, (std::vector<int64_t>{50, 125}));
  EXPECT_DOUBLE_EQ(plan(o, 1).schedule.at(125), 0.001);
}

TEST(Plans, RefuseWhatMakesNoSenseByItsFlag) {
  EXPECT_EQ(refusal([](TrainOptions&) {}), "");
  const std::vector<std::pair<const char*, std::function<void(TrainOptions&)>>> cases = {
      {"--lr ", [](TrainOptions& o) { o.lr = 0; }},
      {"--accumulate", [](TrainOptions& o) { o.accumulate = 0; }},
      {"--clip-norm", [](TrainOptions& o) { o.clip_norm = -1; }},
      {"--label-smoothing", [](TrainOptions& o) { o.label_smoothing = 1; }},
      {"--mixup", [](TrainOptions& o) { o.mixing.mixup = 101; }},
      {"--cutmix", [](TrainOptions& o) { o.mixing.cutmix = -1; }},
      {"--repeated-augmentation", [](TrainOptions& o) { o.repeated_augmentation = 0; }},
      {"--augment none",
       [](TrainOptions& o) {
         o.repeated_augmentation = 2;
         o.augment = "none";
       }},
      {"--shuffle-buffer",
       [](TrainOptions& o) {
         o.repeated_augmentation = 2;
         o.shuffle_buffer = 100;
       }},
      {"--beta1", [](TrainOptions& o) { o.optimizer.beta1 = 1; }},
      {"--beta2", [](TrainOptions& o) { o.optimizer.beta2 = -0.1; }},
      {"--epsilon", [](TrainOptions& o) { o.optimizer.epsilon = 0; }},
      {"--trust-coefficient", [](TrainOptions& o) { o.optimizer.trust = 0; }},
      {"--momentum", [](TrainOptions& o) { o.optimizer.momentum = 1; }},
      {"--weight-decay", [](TrainOptions& o) { o.optimizer.weight_decay = -1; }},
      {"--lr-steps", [](TrainOptions& o) { o.lr_steps = {3, 3}; }},
      {"--early-stop", [](TrainOptions& o) { o.early_stop = 2; }},
  };
  for (const auto& [flag, change] : cases) {
    EXPECT_NE(refusal(change).find(flag), std::string::npos) << flag << ": " << refusal(change);
  }
}

}  // namespace
}  // namespace trainyard
