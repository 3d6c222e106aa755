// Small ops without parameters.
#pragma once
#include <cstddef>
#include <cstdint>

#include "trainer/tensor/tensor_desc.h"

namespace trainyard {

/// (pixel / 255 - mean) / std, from the loader's [n, h, w, 3] bytes to activations. n may be
/// smaller than the batch: the other images become zeros.
class InputOp {
 public:
  virtual ~InputOp() = default;
  /// Starts to bring the images of the next forward() to where it wants them, beside the ops; they
  /// may be written over at once. Never needed, and once at most before each forward().
  virtual void prefetch(const uint8_t* /*images*/, int /*count*/) {}
  virtual void forward(const uint8_t* images, int count, void* y) = 0;
};

/// The shortcut without parameters ("option A" of He et al. 2015, arXiv:1512.03385): every
/// stride-th pixel of x, and behind its channels as many of zeros as the output has more.
class ShortcutOp {
 public:
  virtual ~ShortcutOp() = default;
  virtual const TensorDesc& output() const = 0;
  virtual void forward(const void* x, void* y) = 0;
  /// dx is overwritten.
  virtual void backward(const void* dy, void* dx) = 0;
};

/// to += from, both of the layout the op was made for.
class AddOp {
 public:
  virtual ~AddOp() = default;
  virtual void run(void* to, const void* from) = 0;
};

}  // namespace trainyard
