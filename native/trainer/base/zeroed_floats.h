// Numbers for every weight of a model, zero at first without having been written: the system zeroes
// a page when a thread first touches it.
#pragma once
#include <span>

#include "trainer/base/aligned_memory.h"

namespace trainyard {

class ZeroedFloats {
 public:
  explicit ZeroedFloats(size_t count) : memory_(count * sizeof(float)), count_(count) {}
  float* data() { return reinterpret_cast<float*>(memory_.data()); }
  /// Before all of them are written for the first time: see AlignedMemory.
  void populate() {
    if (!populated_) memory_.populate();
    populated_ = true;
  }
  std::span<float> span() { return {data(), count_}; }

 private:
  AlignedMemory memory_;
  size_t count_;
  bool populated_ = false;
};

}  // namespace trainyard
