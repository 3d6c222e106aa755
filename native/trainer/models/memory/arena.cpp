#include "trainer/models/memory/arena.h"

namespace trainyard {

Arena::Arena(Backend& backend, size_t elements, bool summed)
    : backend_(backend),
      elements_(elements),
      memory_(summed ? backend.allocate_for_sums(elements * sizeof(float))
                     : backend.allocate(elements * sizeof(float))),
      copy_(backend.host_memory() ? 0 : elements) {}

std::span<float> Arena::host() {
  if (backend_.host_memory()) return {device(), elements_};
  return copy_;
}

void Arena::to_device() {
  if (!backend_.host_memory()) backend_.from_host(memory_->data(), copy_.data(), elements_ * sizeof(float));
}

void Arena::to_host(size_t begin, size_t end) {
  if (backend_.host_memory()) return;
  backend_.to_host(copy_.data() + begin, device() + begin, (end - begin) * sizeof(float));
}

}  // namespace trainyard
