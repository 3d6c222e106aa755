// A flat arena of numbers that the host and the back end share.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "trainer/ops/contract/backend.h"

namespace trainyard {

/// One piece of memory where the back end's is the host's; elsewhere two, and copies that are
/// called for. Zeros at first.
class Arena {
 public:
  /// summed: by the devices of a group, where it lies.
  Arena(Backend& backend, size_t elements, bool summed = false);
  std::span<float> host();
  /// Before the back end's memory is written whole for the first time.
  void populate() { memory_->populate(); }
  float* device() { return reinterpret_cast<float*>(memory_->data()); }
  /// After the host wrote.
  void to_device();
  /// Elements [begin, end), after the back end wrote; waits for the ops that do.
  void to_host(size_t begin, size_t end);
  void to_host() { to_host(0, elements_); }
  /// On the device.
  size_t bytes() const { return memory_->bytes(); }

 private:
  Backend& backend_;
  size_t elements_;
  std::unique_ptr<BackendMemory> memory_;
  std::vector<float> copy_;  // empty where the host sees the memory itself
};

}  // namespace trainyard
