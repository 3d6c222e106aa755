// What a device that records does, on the host: kernels are kept with their arguments as they were,
// and run later.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trainer/ops/cuda/convolution/pointwise.h"
#include "trainer/ops/cuda/launch.h"
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

/// What our products of pixels have written.
struct WrittenPixels {
  const cuda::PixelsTiling& tiling;
  const cuda::PixelsShape& shape;
  unsigned processors;
  float* partial;
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
  /// The same of our products of pixels.
  std::function<void(const WrittenPixels&)> spoil_pixels{};

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
    run_in(in_beside_ ? &beside_.back() : recording_ ? &ops_ : nullptr, std::move(op));
  }

  /// Ops that `ops` runs stand beside those that follow: they run as late as they may.
  void run_beside(const std::function<void()>& ops) {
    beside_.emplace_back();
    in_beside_ = true;
    ops();
    in_beside_ = false;
  }
  /// Those of all calls of run_beside() but the newest `rest` run before ops that follow.
  void join_beside(size_t rest) {
    for (; beside_.size() > rest; beside_.pop_front()) {
      for (auto& op : beside_.front()) run_in(recording_ ? &ops_ : nullptr, std::move(op));
    }
  }
  bool beside() const { return !beside_.empty(); }

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
  using Ops = std::vector<std::function<void()>>;

  /// Later, or now.
  static void run_in(Ops* later, std::function<void()> op) {
    later != nullptr ? later->push_back(std::move(op)) : op();
  }

  bool recording_ = false, in_beside_ = false;
  Counted counted_;
  Ops ops_;
  std::deque<Ops> beside_;  // not joined yet
};

}  // namespace trainyard::test
