// Channels of several tensors behind one another, as every back end offers it.
#pragma once
#include <span>

#include "trainer/tensor/tensor_desc.h"

namespace trainyard {

/// [n, c1, h, w], [n, c2, h, w], … -> [n, c1 + c2 + …, h, w], as torch.cat of dimension 1.
class ConcatOp {
 public:
  virtual ~ConcatOp() = default;
  virtual const TensorDesc& output() const = 0;
  /// parts: as many as the op was made for, in their order.
  virtual void forward(std::span<const void* const> parts, void* y) = 0;
  /// Every part of dparts is overwritten; nullptr: nobody wants that one.
  virtual void backward(const void* dy, std::span<void* const> dparts) = 0;
};

}  // namespace trainyard
