#include "trainer/data/order.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/error.h"
#include "trainer/base/random.h"

namespace trainyard {

namespace {

constexpr uint64_t kOrderTag = 0x6f72646572ULL;

/// Fisher and Yates' shuffle (Knuth, The Art of Computer Programming 2, algorithm 3.4.2 P).
void mix(std::vector<uint32_t>& order, Random& random) {
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
}

/// The order in which a buffer of `room` images gives them, one drawn at a time, the next of the
/// stream in its place (tensorflow.org/api_docs/python/tf/data/Dataset#shuffle). Only numbers go
/// through it: images are read when their turn comes, so it costs no memory and a run resumes in
/// the middle of an epoch.
void mix_by_buffer(std::vector<uint32_t>& order, size_t room, Random& random) {
  std::vector<uint32_t> held(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(room));
  for (size_t i = 0; i < order.size(); ++i) {
    uint32_t& drawn = held[random.below(held.size())];
    const size_t next = i + room;
    order[i] = drawn;
    if (next < order.size()) {
      drawn = order[next];
    } else {
      drawn = held.back();
      held.pop_back();
    }
  }
}

void check(size_t size, const LoaderOptions& options) {
  if (options.repeats > 1 && !options.shuffle) throw std::logic_error("images in order are not repeated");
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
      buffer_(options.shuffle_buffer),
      shuffle_(options.shuffle),
      batch_(static_cast<size_t>(std::max(options.batch, 1))),
      rank_(static_cast<size_t>(options.rank)),
      world_(static_cast<size_t>(options.world)),
      repeats_(static_cast<size_t>(std::max(options.repeats, 1))) {
  check(size, options);
  const size_t global = batch_ * world_;
  steps_per_epoch_ = static_cast<int64_t>(shuffle_ ? size_ / global : (size_ + global - 1) / global);
}

std::shared_ptr<const std::vector<uint32_t>> Order::permute(int64_t epoch) const {
  auto order = std::make_shared<std::vector<uint32_t>>(size_);
  std::iota(order->begin(), order->end(), 0U);
  if (!shuffle_) return order;
  Random random({seed_, static_cast<uint64_t>(epoch), kOrderTag});
  if (buffer_ == 0 || buffer_ >= size_) {
    mix(*order, random);
  } else {
    mix_by_buffer(*order, buffer_, random);
  }
  return order;
}

Part Order::part(int64_t step) {
  const int64_t epoch = step / steps_per_epoch_;
  if (epoch != epoch_ && (shuffle_ || !permutation_)) permutation_ = permute(epoch);
  epoch_ = epoch;
  const auto in_epoch = static_cast<size_t>(step % steps_per_epoch_);
  Part part{.epoch = epoch, .permutation = permutation_, .place = static_cast<int64_t>(in_epoch), .repeats = repeats_};
  if (repeats_ > 1) {
    part.begin = in_epoch * world_ * batch_ + rank_;
    part.stride = world_;
    part.count = static_cast<int>(batch_);
  } else {
    part.begin = std::min((in_epoch * world_ + rank_) * batch_, size_);
    part.count = static_cast<int>(std::min(batch_, size_ - part.begin));
  }
  return part;
}

}  // namespace trainyard
