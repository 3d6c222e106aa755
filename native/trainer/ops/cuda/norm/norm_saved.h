// What a batch norm keeps from forward to backward, laid over the caller's memory.
#pragma once
#include "trainer/ops/cuda/math/norm/norm_forward.h"

namespace trainyard::cuda {

struct NormSaved {
  double* count;              // how many numbers a channel's statistics are of
  double* inverse_deviation;  // [channels] 1 / sqrt(var + eps)
  NormConstants constants;
  uint8_t* passed;  // behind the rest: NormApplyBlock's bits, where there are any

  NormSaved(void* memory, size_t channels) : count(static_cast<double*>(memory)), inverse_deviation(count + 8) {
    auto* floats = reinterpret_cast<float*>(inverse_deviation + channels);
    constants = {floats, floats + channels, floats + 2 * channels};
    passed = static_cast<uint8_t*>(memory) + bytes(channels);
  }

  /// Without the bits.
  static size_t bytes(size_t channels) { return 64 + channels * (sizeof(double) + 3 * sizeof(float)); }
};

}  // namespace trainyard::cuda
