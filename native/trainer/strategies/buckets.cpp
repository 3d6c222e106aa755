#include "trainer/strategies/buckets.h"

#include <algorithm>
#include <utility>

namespace trainyard {

std::vector<size_t> bucket_starts(size_t size, size_t bucket) {
  std::vector<size_t> starts;
  for (size_t end = size; end > 0;) {
    end -= std::min(end, std::max<size_t>(bucket, 1));
    starts.push_back(end);
  }
  return starts;
}

Buckets::Buckets(std::span<float> gradients, Start start, size_t bucket_bytes)
    : gradients_(gradients),
      start_(std::move(start)),
      starts_(bucket_starts(gradients.size(), bucket_bytes / sizeof(float))),
      sent_to_(gradients.size()) {}

void Buckets::ready(size_t begin) {
  while (next_ < starts_.size() && begin <= starts_[next_]) {
    start_(gradients_.subspan(starts_[next_], sent_to_ - starts_[next_]));
    sent_to_ = starts_[next_];
    ++next_;
  }
}

void Buckets::restart() {
  next_ = 0;
  sent_to_ = gradients_.size();
}

}  // namespace trainyard
