#include "trainer/train/loop/checkpoint_writer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

namespace trainyard {
namespace {

CheckpointContents contents_of(int64_t step, const std::vector<float>& weights, const std::vector<float>& momentum) {
  CheckpointContents contents;
  contents.step = step;
  contents.tensors = {{"weight", {2}, std::span(weights).first(2)}, {"bias", {1}, std::span(weights).subspan(2)}};
  contents.optimizer = {{"weight.momentum", {2}, momentum}};
  return contents;
}

/// All values in the order of the file.
std::vector<float> values(const CheckpointContents& contents) {
  std::vector<float> found;
  for (const auto* views : {&contents.tensors, &contents.optimizer}) {
    for (const TensorView& view : *views) found.insert(found.end(), view.values.begin(), view.values.end());
  }
  return found;
}

TEST(CheckpointWriter, writes_what_was_there_when_it_began_while_the_weights_change) {
  std::vector<float> weights{1, 2, 3};
  std::vector<float> momentum{4, 5};
  std::promise<void> changed;
  std::vector<std::vector<float>> written;
  std::vector<int64_t> steps;
  CheckpointWriter writer([&](const CheckpointContents& contents, double held_ms) {
    EXPECT_GE(held_ms, 0);
    changed.get_future().wait();
    written.push_back(values(contents));
    steps.push_back(contents.step);
    return CheckpointOutcome{"there", "", Retry::pointless};
  });
  EXPECT_FALSE(writer.settle().has_value());
  for (int64_t step = 1; step <= 2; ++step) {
    changed = std::promise<void>();
    writer.begin(contents_of(step, weights, momentum), Stopwatch());
    for (float& weight : weights) weight += 10;
    momentum[0] = -1;
    changed.set_value();
    EXPECT_EQ(writer.settle()->path, "there");
    EXPECT_FALSE(writer.settle().has_value());
  }
  EXPECT_EQ(steps, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(written, (std::vector<std::vector<float>>{{1, 2, 3, 4, 5}, {11, 12, 13, -1, 5}}));
}

TEST(CheckpointWriter, hands_on_failures_and_what_was_thrown) {
  const std::vector<float> weights{1, 2, 3};
  int calls = 0;
  CheckpointWriter writer([&](const CheckpointContents&, double) {
    if (++calls > 1) throw std::runtime_error("a defect");
    return CheckpointOutcome{"", "no space", Retry::worthwhile};
  });
  writer.begin(contents_of(1, weights, weights), Stopwatch());
  const auto outcome = writer.settle();
  EXPECT_EQ(outcome->error, "no space");
  EXPECT_EQ(outcome->retry, Retry::worthwhile);
  writer.begin(contents_of(2, weights, weights), Stopwatch());
  EXPECT_THROW(writer.begin(contents_of(3, weights, weights), Stopwatch()), Error);
  EXPECT_THROW(writer.settle(), std::runtime_error);
}

TEST(CheckpointWriter, writes_at_once_where_there_is_no_memory_for_the_copy) {
  if (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)) {
    GTEST_SKIP() << "a sanitizer ends a program that asks for so much memory";
  }
  const float weight = 1;
  CheckpointContents contents;
  contents.tensors = {
      {"weight", {int64_t{1} << 44}, std::span(&weight, size_t{1} << 44U)}};  // 64 TiB, nobody reads them
  const auto here = std::this_thread::get_id();
  CheckpointWriter writer([&](const CheckpointContents& given, double) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ(given.tensors.front().values.data(), &weight);
    return CheckpointOutcome{"there", "", Retry::pointless};
  });
  writer.begin(contents, Stopwatch());
  EXPECT_EQ(writer.settle()->path, "there");
}

TEST(CheckpointWriter, waits_for_the_last_one_when_it_ends) {
  const std::vector<float> weights{1, 2, 3};
  bool written = false;
  {
    CheckpointWriter writer([&](const CheckpointContents&, double) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      written = true;
      return CheckpointOutcome{};
    });
    writer.begin(contents_of(1, weights, weights), Stopwatch());
  }
  EXPECT_TRUE(written);
}

}  // namespace
}  // namespace trainyard
