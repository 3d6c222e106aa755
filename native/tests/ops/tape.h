// What a device that records does, on the host: kernels are kept with their arguments as they were,
// and run later.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trainer/ops/cuda/launch.h"
#include "trainer/ops/cuda/pointwise.h"
#include "trainer/tensor/dtype.h"

namespace trainyard::test {

/// What one of our products has written.
struct WrittenProduct {
  const cuda::PointwiseTiling& tiling;
  const cuda::PointwiseShape& shape;
  unsigned processors;
  BFloat16* d;  ///< or fp16, as the shape says; g, where it is a gradient
  float* sums;
};

class Tape {
 public:
  /// The stream of a launcher whose kernels go here.
  CUstream_st* stream() { return reinterpret_cast<CUstream_st*>(this); }
  /// The order in which the threads of a block, and the blocks of a kernel, are played.
  bool forwards = false;
  /// nullptr: kernels run at once.
  static Tape* of(const cuda::Launcher& launcher) { return reinterpret_cast<Tape*>(launcher.stream); }

  /// Where set, changes what our products write: a device on which their kernel computes wrongly.
  std::function<void(const WrittenProduct&)> spoil{};

  /// Whether kernels are only counted: their numbers are never there then.
  bool dry = false;

  /// Now, or while it records not yet. kernel, bytes: what it moves, for who counts.
  void run(std::function<void()> op, const char* kernel, size_t bytes) {
    if (dry) {
      auto& [launches, moved] = counted_[kernel];
      ++launches;
      moved += bytes;
      return;
    }
    recording_ ? ops_.push_back(std::move(op)) : op();
  }
  /// By kernel: launches and bytes, of kernels, products and convolutions while it was dry. One of
  /// cuDNN's may be several kernels.
  using Counted = std::map<std::string, std::pair<size_t, size_t>>;
  const Counted& counted() const { return counted_; }
  bool recording() const { return recording_; }
  void begin() { recording_ = true; }
  std::vector<std::function<void()>> end() {
    recording_ = false;
    return std::exchange(ops_, {});
  }

 private:
  bool recording_ = false;
  Counted counted_;
  std::vector<std::function<void()>> ops_;
};

}  // namespace trainyard::test
