#include "trainer/train/loop/accumulator.h"

#include <utility>

#include "trainer/base/parallel.h"

namespace trainyard {
namespace {

constexpr size_t kGrain = 16384;

}  // namespace

void Accumulator::keep() {
  const bool first = std::exchange(empty_, false);
  if (device_ != nullptr) {
    device_->keep_gradients(first);
    return;
  }
  if (first) {
    sums_.assign(gradients_.begin(), gradients_.end());
    return;
  }
  parallel_for(sums_.size(), kGrain, [this](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) sums_[i] += gradients_[i];
  });
}

void Accumulator::add_to(size_t begin, size_t end) {
  if (empty_) return;
  if (device_ != nullptr) {
    device_->add_kept(begin, end);
    return;
  }
  parallel_for(end - begin, kGrain, [this, begin](size_t from, size_t to) {
    for (size_t i = begin + from; i < begin + to; ++i) gradients_[i] += sums_[i];
  });
}

}  // namespace trainyard
