// The weights of a network's convolutions in the form that the back end's kernels read, made for all
// of them at once.
#pragma once
#include <cstddef>

#include "trainer/tensor/dtype.h"

namespace trainyard {

/// One convolution's weights, from the parameter arena to memory of the caller.
struct PackedWeights {
  size_t offset = 0;  ///< in the arena, elements
  int out = 0, in = 0, kernel_h = 1, kernel_w = 1;
  DType dtype = DType::f32;  ///< packed
  bool transposed = false;   ///< packed as [in, out]; of a window of one pixel alone
  void* to = nullptr;        ///< bytes() of the back end's memory, 64-byte aligned

  size_t bytes() const {
    return static_cast<size_t>(out) * static_cast<size_t>(in) * static_cast<size_t>(kernel_h * kernel_w) *
           dtype_bytes(dtype);
  }
};

/// Packs [out, in, kernel_h, kernel_w] of fp32 to [out, kernel_h, kernel_w, in], or to its
/// transpose.
class PackOp {
 public:
  virtual ~PackOp() = default;
  /// weights: the whole arena.
  virtual void run(const float* weights) = 0;
};

}  // namespace trainyard
