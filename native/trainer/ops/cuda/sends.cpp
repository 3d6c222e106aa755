#include "trainer/ops/cuda/sends.h"

#include <cstring>
#include <utility>

namespace trainyard::cuda {

Sends::Sends(std::vector<std::unique_ptr<SendPlace>> places, Wait wait)
    : places_(std::move(places)), wait_(std::move(wait)) {}

void Sends::send(void* memory, const void* host, size_t bytes) {
  if (bytes == 0) return;
  SendPlace& place = *places_.at(next_);
  next_ = (next_ + 1) % places_.size();
  if (!place.is_read()) wait_([&place] { return place.is_read(); });
  std::memcpy(place.data(), host, bytes);
  place.start(memory, bytes);
}

}  // namespace trainyard::cuda
