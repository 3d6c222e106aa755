// The size of the images on which a training's checkpoints are judged: which models take another
// one than they trained on, and what a checkpoint says of it.
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "common/error.h"
#include "tests/checkpoint/run_folder.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/models/builders.h"
#include "trainer/train/evaluate/evaluate.h"
#include "trainer/train/loop/setup.h"

namespace trainyard {
namespace {

TrainOptions judged_at(const std::string& model, int size) {
  TrainOptions options;
  options.model = model;
  options.eval_image_size = size;
  return options;
}

std::string refusal(const TrainOptions& options) {
  try {
    eval_image_size_for(options, image_size_for(options));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::usage);
    return error.what();
  }
  return "";
}

/// Their memory is then to be there when a batch is judged.
TEST(EvalImageSize, OfTrainingsIsJudgedInTheNetworkThatTrains) {
  TrainOptions options = judged_at("resnet20", 0);
  TrainPlan plan;
  plan.image_size = plan.eval_image_size = 32;
  EXPECT_FALSE(network_options(options, plan).evaluates) << "another process does";
  options.eval_on = "ranks";
  EXPECT_TRUE(network_options(options, plan).evaluates);
  plan.eval_image_size = 40;
  EXPECT_FALSE(network_options(options, plan).evaluates) << "another network does";
}

using Tensors = std::vector<std::tuple<std::string, std::vector<int64_t>>>;

Tensors parameters(const std::string& model, int size) {
  const auto graph = build_model(model, size, 3);
  Tensors list;
  for (const Parameter& each : graph->parameters()) list.emplace_back(each.name, each.shape);
  return list;
}

TEST(EvalImageSize, IsTrainingsUnlessAsked) {
  EXPECT_EQ(eval_image_size_for(judged_at("resnet50", 0), 176), 176);
  EXPECT_EQ(eval_image_size_for(judged_at("resnet50", 224), 176), 224);
  EXPECT_EQ(eval_image_size_for(judged_at("mlp", 0), 32), 32);
  EXPECT_EQ(eval_image_size_for(judged_at("mlp", 32), 32), 32);
}

TEST(EvalImageSize, IsRefusedWhereTheWeightsDoNotSuitIt) {
  const std::string mlp = refusal(judged_at("mlp", 40));
  EXPECT_NE(mlp.find("--eval-image-size 40"), std::string::npos) << mlp;
  EXPECT_NE(mlp.find("one size, 32 pixels"), std::string::npos) << mlp;
  const std::string inception = refusal(judged_at("inception_v3", 298));
  EXPECT_NE(inception.find("at least 299 pixels"), std::string::npos) << inception;
  EXPECT_EQ(refusal(judged_at("inception_v3", 342)), "");
}

TEST(EvalResize, IsTorchvisionsUnlessAsked) {
  TrainOptions options;
  EXPECT_EQ(eval_resize_for(options, 224), 256);
  EXPECT_EQ(eval_resize_for(options, 299), 342);
  options.eval_resize = 232;
  EXPECT_EQ(eval_resize_for(options, 224), 232);
  EXPECT_EQ(eval_resize_for(options, 232), 232);
  try {
    eval_resize_for(options, 233);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::usage);
    EXPECT_NE(std::string(error.what()).find("--eval-resize 232 is less than the 233 pixels"), std::string::npos);
  }
}

TEST(EvalImageSize, SuitsTheModelsWhoseWeightsAreTheSameAtAnySize) {
  for (const ModelInfo& model : known_models()) {
    const bool same = parameters(model.name, model.image_size) == parameters(model.name, model.image_size + 33);
    EXPECT_EQ(same, model.any_size) << model.name;
  }
}

TEST(EvalImageSize, IsWhatACheckpointIsJudgedWith) {
  const RunFolder folder;
  TrainOptions options = judged_at("resnet20", 40);
  options.data = "synthetic";
  TrainPlan plan;
  plan.classes = 3;
  plan.class_names = {"a", "b", "c"};
  plan.image_size = 24;
  plan.eval_image_size = 40;
  plan.eval_resize = 50;
  CheckpointContents contents;
  contents.step = 5;
  contents.model = "resnet20";
  contents.classes = 3;
  contents.state = checkpoint_state(options, plan, 5, nullptr);
  EXPECT_EQ(contents.state.at("image_size"), 24);
  CheckpointModel model = read_checkpoint_model(save_checkpoint(folder.path(), contents).path);
  EXPECT_EQ(model.image_size, 40);
  EXPECT_EQ(model.resize, 50);
  contents.state.erase("eval_resize");  // of older trainers
  EXPECT_EQ(read_checkpoint_model(save_checkpoint(folder.path(), contents).path).resize, 46);
  contents.state.erase("eval_image_size");
  model = read_checkpoint_model(save_checkpoint(folder.path(), contents).path);
  EXPECT_EQ(model.image_size, 24);
  EXPECT_EQ(model.resize, 27);
}

}  // namespace
}  // namespace trainyard
