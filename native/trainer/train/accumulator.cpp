#include "trainer/train/accumulator.h"

#include "trainer/base/parallel.h"

namespace trainyard {
namespace {

constexpr size_t kGrain = 16384;

}  // namespace

void Accumulator::keep() {
  if (empty_) {
    sums_.assign(gradients_.begin(), gradients_.end());
    empty_ = false;
    return;
  }
  parallel_for(sums_.size(), kGrain, [this](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) sums_[i] += gradients_[i];
  });
}

void Accumulator::add_to(size_t begin, size_t end) {
  if (empty_) return;
  parallel_for(end - begin, kGrain, [this, begin](size_t from, size_t to) {
    for (size_t i = begin + from; i < begin + to; ++i) gradients_[i] += sums_[i];
  });
}

}  // namespace trainyard
