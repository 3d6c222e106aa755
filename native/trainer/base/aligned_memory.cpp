#include "trainer/base/aligned_memory.h"

#include <sys/mman.h>

#include <string>

#include "common/error.h"

namespace trainyard {

AlignedMemory::AlignedMemory(size_t bytes) : bytes_(bytes) {
  constexpr size_t kPage = 4096;
  const size_t rounded = (bytes + kPage - 1) / kPage * kPage;
  if (rounded == 0) return;
  // Zeroed by the system, page by page when it is first touched, on whichever thread that is.
  void* data = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    throw Error(Exit::device, "No memory for " + std::to_string(bytes >> 20) +
                                  " MiB of activations and weights. Use a smaller --batch-size or --image-size.");
  }
  data_ = {static_cast<std::byte*>(data), Unmap{rounded}};
  madvise(data, rounded, MADV_HUGEPAGE);  // a wish; a kernel without huge pages gives small ones
}

void AlignedMemory::Unmap::operator()(std::byte* data) const { munmap(data, bytes); }

}  // namespace trainyard
