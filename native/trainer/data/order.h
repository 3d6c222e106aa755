// Which images make up which step's batch: a pure function of seed, step and the size of the global
// batch.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/data/source.h"

namespace trainyard {

/// One rank's part of one step: `count` positions of an epoch's permutation from `begin` on.
struct Part {
  int64_t epoch = 0;
  std::shared_ptr<const std::vector<uint32_t>> permutation;
  size_t begin = 0;
  int count = 0;
  int64_t place = 0;  ///< of the step in its epoch

  /// The image of a slot, or, for tries > 0, the one that stands in when that many before it were
  /// unreadable: the next in the permutation, from its end on to its beginning.
  size_t index(int slot, size_t tries = 0) const {
    return (*permutation)[(begin + static_cast<size_t>(slot) + tries) % permutation->size()];
  }
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
  int64_t steps_per_epoch_;
  int64_t epoch_ = -1;  ///< of permutation_
  std::shared_ptr<const std::vector<uint32_t>> permutation_;
};

}  // namespace trainyard
