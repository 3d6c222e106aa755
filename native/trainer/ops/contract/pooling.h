// Pooling, as every back end offers it.
#pragma once
#include <cstddef>

#include "trainer/tensor/tensor_desc.h"

namespace trainyard {

struct MaxPoolParams {
  TensorDesc input;
  int kernel = 2;
  int stride = 2;
  int pad = 0;  ///< padding never wins
  bool training = true;
};

/// The largest value of each window; among equal ones the first in row order counts, as in PyTorch.
class MaxPoolOp {
 public:
  virtual ~MaxPoolOp() = default;
  virtual const TensorDesc& output() const = 0;
  /// Where the maxima stood: written by forward, read by backward. 0 for inference.
  virtual size_t workspace_bytes() const = 0;
  virtual size_t scratch_bytes() const = 0;
  virtual void forward(const void* x, void* y, void* workspace, void* scratch) = 0;
  /// dx is overwritten.
  virtual void backward(const void* dy, const void* workspace, void* dx, void* scratch) = 0;
};

struct AvgPoolParams {
  TensorDesc input;
  int kernel = 2;
  int stride = 2;
  int pad = 0;  ///< zeros that count as pixels (PyTorch's count_include_pad)
  bool training = true;
};

/// The sum of each window over kernel * kernel.
class AvgPoolOp {
 public:
  virtual ~AvgPoolOp() = default;
  virtual const TensorDesc& output() const = 0;
  virtual size_t scratch_bytes() const = 0;
  virtual void forward(const void* x, void* y, void* scratch) = 0;
  /// dx is overwritten.
  virtual void backward(const void* dy, void* dx, void* scratch) = 0;
};

/// The mean over all pixels. y: [n, c, 1, 1], plain.
class GlobalAvgPoolOp {
 public:
  virtual ~GlobalAvgPoolOp() = default;
  virtual const TensorDesc& output() const = 0;
  virtual void forward(const void* x, void* y) = 0;
  /// dx is overwritten.
  virtual void backward(const void* dy, void* dx) = 0;
};

}  // namespace trainyard
