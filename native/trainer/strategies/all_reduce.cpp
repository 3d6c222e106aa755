#include "trainer/strategies/all_reduce.h"

#include <algorithm>
#include <chrono>

namespace trainyard {

std::vector<size_t> bucket_starts(size_t size, size_t bucket) {
  std::vector<size_t> starts;
  for (size_t end = size; end > 0;) {
    end -= std::min(end, std::max<size_t>(bucket, 1));
    starts.push_back(end);
  }
  return starts;
}

AllReduce::AllReduce(Communicator& communicator, std::span<float> gradients, size_t bucket_bytes)
    : communicator_(communicator),
      gradients_(gradients),
      starts_(bucket_starts(gradients.size(), bucket_bytes / sizeof(float))),
      sent_to_(gradients.size()) {}

void AllReduce::ready(size_t begin, size_t /*end*/) {
  if (communicator_.world() == 1) return;
  while (next_ < starts_.size() && begin <= starts_[next_]) {
    communicator_.start_sum(gradients_.subspan(starts_[next_], sent_to_ - starts_[next_]));
    sent_to_ = starts_[next_];
    ++next_;
  }
  communicator_.progress();
}

double AllReduce::finish() {
  const auto before = std::chrono::steady_clock::now();
  communicator_.wait_all();
  next_ = 0;
  sent_to_ = gradients_.size();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count();
}

}  // namespace trainyard
