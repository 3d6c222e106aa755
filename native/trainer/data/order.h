// Which images make up which step's batch: a pure function of seed, step and the size of the global
// batch.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/data/source.h"

namespace trainyard {

/// One rank's part of one step: `count` positions of an epoch from `begin` on, each `stride` behind
/// the one before. An epoch is its permutation with each image `repeats` times in succession.
struct Part {
  int64_t epoch = 0;
  std::shared_ptr<const std::vector<uint32_t>> permutation;
  size_t begin = 0;
  int count = 0;
  int64_t place = 0;  ///< of the step in its epoch
  size_t stride = 1;
  size_t repeats = 1;

  /// The image of a slot, or, for tries > 0, the one that stands in when that many before it were
  /// unreadable: the next in the permutation, from its end on to its beginning.
  size_t index(int slot, size_t tries = 0) const {
    return (*permutation)[(position(slot) / repeats + tries) % permutation->size()];
  }
  /// Which of the run's views of the slot's image it is: one an epoch and repeat.
  int64_t view(int slot) const {
    return epoch * static_cast<int64_t>(repeats) + static_cast<int64_t>(position(slot) % repeats);
  }

 private:
  size_t position(int slot) const { return begin + static_cast<size_t>(slot) * stride; }
};

/// Not safe to use from several threads at once.
class Order {
 public:
  /// Throws Error(Exit::data) when shuffling and `size` is below one global batch.
  Order(size_t size, const LoaderOptions& options);
  int64_t steps_per_epoch() const { return steps_per_epoch_; }
  Part part(int64_t step);

 private:
  std::shared_ptr<const std::vector<uint32_t>> permute(int64_t epoch) const;

  size_t size_;
  uint64_t seed_;
  size_t buffer_;
  bool shuffle_;
  size_t batch_;
  size_t rank_;
  size_t world_;
  size_t repeats_;
  int64_t steps_per_epoch_;
  int64_t epoch_ = -1;  ///< of permutation_
  std::shared_ptr<const std::vector<uint32_t>> permutation_;
};

}  // namespace trainyard
