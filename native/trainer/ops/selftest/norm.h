// Batch norms of a case, by one side's back end.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "trainer/ops/selftest/bench.h"

namespace trainyard::selftest_detail {

inline size_t count(const Shape& shape) { return static_cast<size_t>(shape.elements()); }

/// A batch norm's parameters, statistics and gradients, by seed.
struct Norm {
  Norm(Side& side, int channels, uint64_t seed);

  /// By an op of its own: y, or dx.
  void* forward(Side& side, const BatchNormParams& params, const void* x, const void* residual,
                const ChannelSums& sums = {});
  void* backward(Side& side, const TensorDesc& desc, void* dy, const void* more_dy, const ChannelSums& sums = {});
  /// g: masked. Where the op merges.
  MergedNorm backward_merged(void* g, const ChannelSums& sums, const BatchNormOp::Merging& merging);
  NormMask mask() const { return op->mask(f.saved); }
  void read(Side& side, const std::string& of, std::vector<Result>& results) const;

  size_t channels;
  float *gamma, *beta, *mean, *variance, *dgamma, *dbeta;
  std::unique_ptr<BatchNormOp> op;
  BatchNormOp::Forward f;

 private:
  BatchNormOp::Backward of_gradient(void* dy, const ChannelSums& sums) const;
};

/// The batch norm at the end of a block and that of its projection, by BatchNormPairOp where the
/// back end has it.
class NormPair {
 public:
  NormPair(Side& side, const TensorDesc& desc);

  void* forward(Side& side, const void* x, const void* projected);
  /// dx and the projection's, which may lie where dy lies.
  std::array<void*, 2> backward(Side& side, void* dy, const void* more_dy, const ChannelSums& sums = {});
  NormMask mask() const { return op_->mask(saved_); }
  bool at_once() const { return op_ != nullptr; }
  void read(Side& side, std::vector<Result>& results) const;

 private:
  TensorDesc desc_;
  Norm branch_, projection_;
  std::unique_ptr<BatchNormPairOp> op_;
  std::array<const void*, 2> x_{};
  void* saved_ = nullptr;
  void* scratch_ = nullptr;
};

}  // namespace trainyard::selftest_detail
