// --init-weights: what is taken, what is made new, and what is refused by name.
#include "trainer/train/weights/init_weights.h"

#include <gtest/gtest.h>

#include "tests/checkpoint/run_folder.h"
#include "tests/models/support.h"
#include "trainer/train/weights/snapshot.h"

namespace trainyard {
namespace {

/// A network's weights as a .safetensors file.
std::string save(const RunFolder& folder, Network& network, const std::string& model, int classes) {
  const auto optimizer = make_optimizer({}, {}, network.weights().size());
  save_checkpoint(folder.path(), snapshot(network, optimizer->state(), std::nullopt,
                                          {{"step", 1}, {"model", model}, {"classes", classes}}));
  return folder.step(1) + "/model.safetensors";
}

std::span<float> tensor(Network& network, const std::string& name) {
  for (const TensorInfo& info : network.parameters()) {
    if (info.name == name) return network.weights().subspan(info.offset, info.size);
  }
  throw std::runtime_error("no tensor " + name);
}

bool same(std::span<const float> a, std::span<const float> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::string refusal(const std::string& path, Network& network) {
  try {
    init_weights(path, network);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "";
}

TEST(InitWeights, TakeAllOfTheSameShape) {
  const RunFolder folder;
  const auto from = test::network("resnet20", 5, 32, 2, 7);
  from->train_step(test::RandomBatch(2, 32, 5, 1).view(), 0.5F, nullptr);
  const auto to = test::network("resnet20", 5, 32, 2, 8);
  EXPECT_TRUE(init_weights(save(folder, *from, "resnet20", 5), *to).empty());
  EXPECT_TRUE(same(from->weights(), to->weights()));
  EXPECT_TRUE(same(from->running_statistics(), to->running_statistics()));
}

TEST(InitWeights, MakeALastLayerOfOtherClassesNew) {
  const RunFolder folder;
  const auto from = test::network("resnet20", 5, 32, 2, 7);
  const auto to = test::network("resnet20", 3, 32, 2, 8);
  const auto fresh = test::network("resnet20", 3, 32, 2, 8);
  EXPECT_EQ(init_weights(save(folder, *from, "resnet20", 5), *to), (std::vector<std::string>{"fc.weight", "fc.bias"}));
  for (const TensorInfo& info : to->parameters()) {
    Network& source = info.name.starts_with("fc.") ? *fresh : *from;
    EXPECT_TRUE(same(tensor(*to, info.name), tensor(source, info.name))) << info.name;
  }
}

TEST(InitWeights, RefuseAnotherModelByName) {
  const RunFolder folder;
  const auto from = test::network("resnet20", 5, 32, 2, 7);
  const auto to = test::network("resnet56", 5, 32, 2, 8);
  const std::vector<float> before(to->weights().begin(), to->weights().end());
  const std::string path = save(folder, *from, "resnet20", 5);
  const std::string lacks = refusal(path, *to);
  EXPECT_NE(lacks.find("it lacks layer1.3.conv1.weight"), std::string::npos) << lacks;
  EXPECT_TRUE(same(before, to->weights()));
  const auto small = test::network("mlp", 5, 32, 2, 8);
  const std::string other = refusal(path, *small);
  EXPECT_NE(other.find("it lacks fc1.weight"), std::string::npos) << other;
  EXPECT_NE(other.find("the model has no "), std::string::npos) << other;
}

TEST(InitWeights, RefuseAnotherShapeThanTheLastLayers) {
  const RunFolder folder;
  const auto from = test::network("mlp", 5, 8, 2, 7);
  const auto to = test::network("mlp", 5, 12, 2, 8);
  const std::string shapes = refusal(save(folder, *from, "mlp", 5), *to);
  EXPECT_NE(shapes.find("fc1.weight (256x192, not 256x432)"), std::string::npos) << shapes;
}

}  // namespace
}  // namespace trainyard
