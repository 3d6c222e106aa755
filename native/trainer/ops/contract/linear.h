// The fully connected layer, as every back end offers it.
#pragma once
#include <cstddef>

#include "trainer/tensor/dtype.h"

namespace trainyard {

struct LinearParams {
  int batch = 0;
  int in = 0;
  int out = 0;
  bool relu = false;          ///< fused behind the bias
  DType input = DType::f32;   ///< of x and dx
  DType output = DType::f32;  ///< of y and dy; fp32 or as the input
};

/// y = x W^T + b, then ReLU if asked for. x: [batch, in], y: [batch, out], W: [out, in], b: [out],
/// all plain; W, b and their gradients fp32.
class LinearOp {
 public:
  virtual ~LinearOp() = default;
  virtual void forward(const void* x, const float* weights, const float* bias, void* y) = 0;
  /// dy becomes the gradient before the ReLU (y is read only with one); call it before the two
  /// others.
  virtual void backward_relu(const void* y, void* dy) = 0;
  /// dx is overwritten.
  virtual void backward_data(const void* dy, const float* weights, void* dx) = 0;
  /// dw and db are overwritten.
  virtual void backward_weights(const void* x, const void* dy, float* dw, float* db) = 0;
};

}  // namespace trainyard
