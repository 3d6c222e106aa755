#include "trainer/tensor/aligned_memory.h"

#include <cstdlib>
#include <cstring>

#include "common/error.h"

namespace trainyard {

AlignedMemory::AlignedMemory(size_t bytes) : bytes_(bytes) {
  constexpr size_t kPage = 4096;
  const size_t rounded = (bytes + kPage - 1) / kPage * kPage;
  if (rounded == 0) return;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, rounded)));
  if (!data_) {
    throw Error(Exit::device, "No memory for " + std::to_string(bytes >> 20) +
                                  " MiB of activations and weights. Use a smaller --batch-size or --image-size.");
  }
  std::memset(data_.get(), 0, rounded);
}

void AlignedMemory::Free::operator()(std::byte* data) const { std::free(data); }

}  // namespace trainyard
