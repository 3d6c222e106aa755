// Whole models: gradients against differences of the loss, and two ranks against one.
#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <thread>

#include "tests/models/slopes.h"
#include "trainer/base/parallel.h"

namespace trainyard {
namespace {

using test::network;
using test::RandomBatch;

struct Case {
  const char* model;
  int size;
};

class Gradients : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Models, Gradients, testing::Values(Case{"mlp", 6}, Case{"resnet20", 8}),
                         [](const auto& info) { return std::string(info.param.model); });

TEST_P(Gradients, AreTheSlopesOfTheLoss) {
  const auto [model, size] = GetParam();
  const RandomBatch batch(16, size, 4, 21);
  const auto net = network(model, 4, size, 16, 22);
  test::expect_slopes_of_the_loss(*net, batch);
}

/// Sums over two threads that play two ranks.
class TwoRanks {
 public:
  class Rank final : public StatisticsReducer {
   public:
    Rank(TwoRanks& both, size_t rank) : both_(both), rank_(rank) {}
    void sum(double* values, size_t count) override {
      both_.given_[rank_].assign(values, values + count);
      both_.barrier_.arrive_and_wait();
      for (size_t i = 0; i < count; ++i) values[i] = both_.given_[0][i] + both_.given_[1][i];
      both_.barrier_.arrive_and_wait();
    }
    int world() const override { return 2; }

   private:
    TwoRanks& both_;
    size_t rank_;
  };
  Rank& operator[](size_t rank) { return ranks_[rank]; }

 private:
  std::vector<double> given_[2];
  std::barrier<> barrier_{2};
  Rank ranks_[2]{{*this, 0}, {*this, 1}};
};

class TwoRanksTest : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Models, TwoRanksTest, testing::Values(Case{"resnet20", 16}, Case{"resnet18", 32}),
                         [](const auto& info) { return std::string(info.param.model); });

TEST_P(TwoRanksTest, StepAsOneWithTheWholeBatch) {
  const auto [model, size] = GetParam();
  const RandomBatch batch(8, size, 4, 31);
  const auto whole = network(model, 4, size, 8, 32);
  const StepResult want = whole->train_step(batch.view(), 0.125F, nullptr);

  TwoRanks ranks;
  std::unique_ptr<Network> nets[2];
  StepResult got[2];
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      set_threads(1);
      NetworkOptions options{model, 4, size, 4, true, 32, &ranks[rank]};
      nets[rank] = make_network(options);
      got[rank] = nets[rank]->train_step(batch.part(static_cast<int>(4 * rank), 4), 0.125F, nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NEAR(got[0].loss_sum + got[1].loss_sum, want.loss_sum, 1e-6 * want.loss_sum);
  for (const TensorInfo& info : whole->parameters()) {
    double difference = 0;
    double length = 0;
    for (size_t i = info.offset; i < info.offset + info.size; ++i) {
      const double sum = double{nets[0]->gradients()[i]} + nets[1]->gradients()[i];
      difference += std::pow(sum - whole->gradients()[i], 2);
      length += std::pow(whole->gradients()[i], 2);
    }
    // The same sums in another order: fp32's own error, which some twenty layers hand on. Own
    // statistics differ by 1.
    EXPECT_LT(std::sqrt(difference), 1e-4 * std::sqrt(length)) << info.name;
  }
  for (size_t i = 0; i < whole->running_statistics().size(); ++i) {
    const float value = whole->running_statistics()[i];
    ASSERT_NEAR(nets[0]->running_statistics()[i], value, 1e-5 * std::abs(value) + 1e-7) << i;
    ASSERT_EQ(nets[0]->running_statistics()[i], nets[1]->running_statistics()[i]) << i;
  }
}

}  // namespace
}  // namespace trainyard
