// Batch normalisation (Ioffe and Szegedy 2015, arXiv:1502.03167), fused with the residual add and
// the ReLU behind it.
#pragma once
#include <array>
#include <cstddef>
#include <functional>

#include "trainer/ops/contract/conv2d.h"
#include "trainer/tensor/tensor_desc.h"

namespace trainyard {

/// Sums `count` numbers over all ranks in place; empty for statistics of this rank alone. The
/// numbers lie where the back end's memory lies, and the call is made in the order of the steps,
/// the same on every rank.
using SumOverRanks = std::function<void(double* values, size_t count)>;

struct BatchNormParams {
  TensorDesc input;  ///< of x, y and the residual alike
  bool residual = false;
  bool relu = false;
  double eps = 1e-5;
  double momentum = 0.1;  ///< weight of the new statistics, as PyTorch counts
};

/// y = relu(gamma * (x - mean) / sqrt(var + eps) + beta + residual), per channel over batch and
/// pixels. All per-channel arrays have shape.c elements of fp32 and need no alignment.
class BatchNormOp {
 public:
  virtual ~BatchNormOp() = default;

  struct Forward {
    const void* x = nullptr;
    const void* residual = nullptr;  ///< only with params.residual
    void* y = nullptr;               ///< may be x
    const float* gamma = nullptr;
    const float* beta = nullptr;
    float* running_mean = nullptr;  ///< training updates them; the running variance takes the unbiased one
    float* running_var = nullptr;
    ChannelSums sums{};     ///< training: of x, where they are known; an op may sum x all the same
    void* saved = nullptr;  ///< training: kept until backward
    void* scratch = nullptr;
  };
  struct Backward {
    void* dy = nullptr;             ///< destroyed
    const void* more_dy = nullptr;  ///< a second gradient of y to be added to dy, or nullptr
    ChannelSums sums{};             ///< GradientEnd's, where dy is its g: masked, with nothing to add
    const void* x = nullptr;        ///< as in forward
    const void* y = nullptr;        ///< as written by forward; read only with relu and residual
    const float* gamma = nullptr;
    const float* beta = nullptr;
    const void* saved = nullptr;
    void* dx = nullptr;       ///< may be dy when there is no residual
    float* dgamma = nullptr;  ///< of this rank's images, overwritten
    float* dbeta = nullptr;
    void* scratch = nullptr;
  };

  /// What the convolution before knows, where it merges this batch norm.
  struct Merging {
    const float* products = nullptr;  ///< MergeBytes::products
    const void* weights = nullptr;    ///< packed for forward: [channels, inner] of the input's type
    unsigned inner = 0;               ///< channels of the convolution's input
  };

  virtual size_t saved_bytes() const = 0;
  virtual size_t scratch_bytes() const = 0;

  /// Batch statistics: biased variance to normalise, running statistics moved by `momentum`.
  virtual void forward_training(const Forward& args, const SumOverRanks& sum) = 0;
  /// Running statistics.
  virtual void forward_inference(const Forward& args) = 0;
  /// With a residual, dy holds d(loss)/d(residual) afterwards.
  virtual void backward(const Backward& args, const SumOverRanks& sum) = 0;
  /// Whether backward() takes sums of a GradientEnd with mask().
  virtual bool has_mask() const { return false; }
  /// In what forward_training() saved.
  virtual NormMask mask(const void* /*saved*/) const { return {}; }

  /// Whether backward_merged() is there.
  virtual bool merges() const { return false; }
  /// backward() with a residual and sums of GradientEndKind::mask, without x and dx. The
  /// convolution makes the rest of what is returned. That lies in `saved` and `scratch`.
  virtual MergedNorm backward_merged(const Backward& /*args*/, const Merging& /*merging*/,
                                     const SumOverRanks& /*sum*/) {
    return {};
  }
};

struct BatchNormPairParams {
  TensorDesc input;  ///< of both inputs and of y
  std::array<double, 2> eps{1e-5, 1e-5};
  double momentum = 0.1;
};

/// The end of a residual block whose shortcut is a projection, in one op: y = relu(norm of the
/// branch + norm of the projection), two batch norms as BatchNormOp has them. Index 0 is the
/// branch, 1 the projection. It sums over the ranks in the order of the two ops that it replaces:
/// forward the projection first, backward the branch first.
class BatchNormPairOp {
 public:
  virtual ~BatchNormPairOp() = default;

  struct Input {
    const void* x = nullptr;
    const float* gamma = nullptr;
    const float* beta = nullptr;
    float* running_mean = nullptr;
    float* running_var = nullptr;
    ChannelSums sums{};  ///< as in BatchNormOp::Forward
  };
  struct Forward {
    std::array<Input, 2> inputs;
    void* y = nullptr;
    void* saved = nullptr;  ///< training: kept until backward
    void* scratch = nullptr;
  };
  struct Gradients {
    const void* x = nullptr;  ///< as in forward
    const float* gamma = nullptr;
    void* dx = nullptr;       ///< of one input it may be dy
    float* dgamma = nullptr;  ///< of this rank's images, overwritten
    float* dbeta = nullptr;
  };
  struct Backward {
    void* dy = nullptr;             ///< destroyed
    const void* more_dy = nullptr;  ///< a second gradient of y to be added to dy, or nullptr
    ChannelSums sums{};             ///< as in BatchNormOp::Backward
    std::array<Gradients, 2> inputs;
    const void* saved = nullptr;
    void* scratch = nullptr;
  };

  virtual size_t saved_bytes() const = 0;
  virtual size_t scratch_bytes() const = 0;

  virtual void forward_training(const Forward& args, const SumOverRanks& sum) = 0;
  virtual void forward_inference(const Forward& args) = 0;
  virtual void backward(const Backward& args, const SumOverRanks& sum) = 0;
  /// As BatchNormOp's.
  virtual bool has_mask() const { return false; }
  virtual NormMask mask(const void* /*saved*/) const { return {}; }

  /// As BatchNormOp's, of the branch: sums are of GradientEndKind::block with the projection's
  /// input, and the branch's x and dx are neither read nor written. dx of the projection is not dy.
  virtual bool merges() const { return false; }
  virtual MergedNorm backward_merged(const Backward& /*args*/, const BatchNormOp::Merging& /*merging*/,
                                     const SumOverRanks& /*sum*/) {
    return {};
  }
};

struct BatchNormPoolParams {
  TensorDesc input;  ///< of x
  // As MaxPoolParams.
  int kernel = 3;
  int stride = 2;
  int pad = 0;
  double eps = 1e-5;
  double momentum = 0.1;
};

/// A batch norm with ReLU and the max pooling behind it, in one op: a BatchNormOp whose y, dy and
/// more_dy are pooled, and which reads no y backward. It sums over the ranks as BatchNormOp does.
class BatchNormPoolOp : public BatchNormOp {
 public:
  virtual const TensorDesc& output() const = 0;
};

}  // namespace trainyard
