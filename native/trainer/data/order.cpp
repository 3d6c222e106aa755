#include "trainer/data/order.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "common/error.h"
#include "trainer/base/random.h"

namespace trainyard {

namespace {

constexpr uint64_t kOrderTag = 0x6f72646572ULL;

/// Fisher and Yates' shuffle (Knuth, The Art of Computer Programming 2, algorithm 3.4.2 P).
std::shared_ptr<const std::vector<uint32_t>> permute(size_t size, bool shuffle, uint64_t seed, int64_t epoch) {
  auto order = std::make_shared<std::vector<uint32_t>>(size);
  std::iota(order->begin(), order->end(), 0U);
  if (shuffle) {
    Random random({seed, static_cast<uint64_t>(epoch), kOrderTag});
    for (size_t i = size; i > 1; --i) std::swap((*order)[i - 1], (*order)[random.below(i)]);
  }
  return order;
}

void check(size_t size, const LoaderOptions& options) {
  if (options.batch < 1) throw Error(Exit::usage, "the batch size is below 1. Set --batch-size to 1 or more");
  if (options.image_size < 1) throw Error(Exit::usage, "the image size is below 1. Set --image-size to 1 or more");
  if (options.world < 1 || options.rank < 0 || options.rank >= options.world) {
    throw std::logic_error("the loader was given rank " + std::to_string(options.rank) + " of " +
                           std::to_string(options.world));
  }
  if (size > std::numeric_limits<uint32_t>::max()) {
    throw Error(Exit::data, "the data set has more than 4294967295 images. Split it");
  }
  const auto world = static_cast<size_t>(options.world);
  if (!options.shuffle || size >= world * static_cast<size_t>(options.batch)) return;
  std::string what = "the data set has " + std::to_string(size) + " images, fewer than one global batch of " +
                     std::to_string(world * static_cast<size_t>(options.batch)) + " (" + std::to_string(options.world) +
                     " x " + std::to_string(options.batch) + ")";
  if (size < world) throw Error(Exit::data, what + ". Use more images or fewer ranks");
  throw Error(Exit::data, what + ". Set --batch-size to " + std::to_string(size / world) + " or less");
}

}  // namespace

Order::Order(size_t size, const LoaderOptions& options)
    : size_(size),
      seed_(options.seed),
      shuffle_(options.shuffle),
      batch_(static_cast<size_t>(std::max(options.batch, 1))),
      rank_(static_cast<size_t>(options.rank)),
      world_(static_cast<size_t>(options.world)) {
  check(size, options);
  const size_t global = batch_ * world_;
  steps_per_epoch_ = static_cast<int64_t>(shuffle_ ? size_ / global : (size_ + global - 1) / global);
}

Part Order::part(int64_t step) {
  const int64_t epoch = step / steps_per_epoch_;
  if (epoch != epoch_ && (shuffle_ || !permutation_)) permutation_ = permute(size_, shuffle_, seed_, epoch);
  epoch_ = epoch;
  const auto in_epoch = static_cast<size_t>(step % steps_per_epoch_);
  const size_t begin = std::min((in_epoch * world_ + rank_) * batch_, size_);
  return {epoch, permutation_, begin, static_cast<int>(std::min(batch_, size_ - begin))};
}

}  // namespace trainyard
