// Dropout, as every back end offers it.
#pragma once
#include <cstdint>

#include "trainer/tensor/tensor_desc.h"

namespace trainyard {

struct DropoutParams {
  TensorDesc tensor;  ///< plain
  float rate = 0.5F;  ///< the part that is left out, in [0, 1)
  uint64_t key = 0;   ///< of the run's seed and the layer
};

/// Zeros instead of a random part of the elements, the others divided by 1 - rate (Srivastava et
/// al. 2014, scaled in training as PyTorch does). Which ones follows from the key, the image's
/// number and the element's place in it.
class DropoutOp {
 public:
  virtual ~DropoutOp() = default;
  /// Forward from x to y and backward from dy to dx alike; `to` may be `from`. Image i of the batch
  /// has the number *first_image + i; first_image is in the back end's memory.
  virtual void run(const void* from, void* to, const uint64_t* first_image) = 0;
};

}  // namespace trainyard
