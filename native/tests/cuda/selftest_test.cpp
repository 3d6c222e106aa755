// The self test passes for ops that are right and names one that is not.
#include "trainer/ops/selftest/selftest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/ops/host/host_collectives.h"
#include "tests/ops/host/host_cuda.h"
#include "trainer/ops/cuda/ops_backend.h"

namespace trainyard {
namespace {

TEST(Selftest, PassesForRightOps) {
  const auto backend = test::make_host_cuda();
  const auto rows = selftest(*backend, *make_cpu_backend());
  EXPECT_GT(rows.size(), 150U);
  for (const char* precision : {" in bf16", " in fp16"}) {
    const auto of = [&](const SelftestRow& row) { return row.op.ends_with(precision); };
    EXPECT_GT(std::count_if(rows.begin(), rows.end(), of), 50) << precision;
    // They are computed in that precision: what is rounded is not what it would be in fp32.
    EXPECT_TRUE(
        std::any_of(rows.begin(), rows.end(), [&](const SelftestRow& row) { return of(row) && row.error > 1e-5; }));
  }
  for (const SelftestRow& row : rows) EXPECT_TRUE(row.ok()) << row.op << ", " << row.quantity << ": " << row.error;
}

TEST(Selftest, SumsInAGroupOfOne) {
  const auto backend = test::make_host_cuda_in({test::new_host_group, test::join_host_group});
  const auto rows = selftest_collectives(*backend);
  EXPECT_EQ(rows.size(), 3U);
  for (const SelftestRow& row : rows) EXPECT_TRUE(row.ok()) << row.op << ": " << row.error;
}

/// The CPU's back end with an addition that leaves out its last element.
class Damaged final : public cuda::OpsBackend {
 public:
  Damaged() : whole_(make_cpu_backend()) { device_.memory = this; }
  std::string name() const override { return "damaged"; }
  bool stores(DType dtype) const override { return dtype == DType::f32; }
  std::unique_ptr<BackendMemory> allocate(size_t bytes) override { return whole_->allocate(bytes); }
  void to_host(void* host, const void* memory, size_t bytes) override { whole_->to_host(host, memory, bytes); }
  void from_host(void* memory, const void* host, size_t bytes) override { whole_->from_host(memory, host, bytes); }
  void synchronize() override {}
  std::unique_ptr<InputOp> make_input(const TensorDesc& output, const std::array<float, 3>& mean,
                                      const std::array<float, 3>& std) override {
    return whole_->make_input(output, mean, std);
  }
  std::unique_ptr<Conv2dOp> make_conv2d(const Conv2dParams& params) override { return whole_->make_conv2d(params); }
  std::unique_ptr<BatchNormOp> make_batch_norm(const BatchNormParams& params) override {
    return whole_->make_batch_norm(params);
  }
  std::unique_ptr<BatchNormPairOp> make_batch_norm_pair(const BatchNormPairParams& /*params*/) override {
    return nullptr;
  }
  std::unique_ptr<BatchNormPoolOp> make_batch_norm_pool(const BatchNormPoolParams& /*params*/) override {
    return nullptr;
  }
  std::unique_ptr<MaxPoolOp> make_max_pool(const MaxPoolParams& params) override {
    return whole_->make_max_pool(params);
  }
  std::unique_ptr<GlobalAvgPoolOp> make_global_avg_pool(const TensorDesc& input) override {
    return whole_->make_global_avg_pool(input);
  }
  std::unique_ptr<LinearOp> make_linear(const LinearParams& params) override { return whole_->make_linear(params); }
  std::unique_ptr<ShortcutOp> make_shortcut(const TensorDesc& input, int out_channels, int stride) override {
    return whole_->make_shortcut(input, out_channels, stride);
  }
  std::unique_ptr<AddOp> make_add(const TensorDesc& tensor) override {
    TensorDesc shorter = tensor;
    --shorter.shape.n;
    return whole_->make_add(shorter);
  }
  std::unique_ptr<SoftmaxCrossEntropyOp> make_softmax_cross_entropy(int classes) override {
    return whole_->make_softmax_cross_entropy(classes);
  }

 private:
  std::unique_ptr<Backend> whole_;
};

TEST(Selftest, NamesAWrongOp) {
  Damaged backend;
  int wrong = 0;
  for (const SelftestRow& row : selftest(backend, *make_cpu_backend())) {
    if (row.ok()) continue;
    ++wrong;
    EXPECT_EQ(row.op.substr(0, 4), "add ");
  }
  EXPECT_EQ(wrong, 1);
}

TEST(Selftest, ANumberThatIsNoneIsNotRight) {
  const SelftestRow row{"op", "y", std::nan(""), 1};
  EXPECT_FALSE(row.ok());
}

}  // namespace
}  // namespace trainyard
