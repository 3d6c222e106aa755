#include "trainer/base/aligned_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>

#include "common/error.h"
#include "trainer/base/parallel.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; an older kernel refuses it, and gives pages as they are touched
#endif

namespace trainyard {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20U;

/// Twice what so much memory takes in small pages. A huge page that is at hand takes a tenth of
/// this. It takes three times this where the host of a virtual machine has to find it first, and as
/// long where the kernel has to move other memory out of its way.
constexpr double kSlowHugePage = 2e-3;
/// How many more slow ones than others show that it is no chance.
constexpr int kSlowPages = 3;

/// Of this thread, which leaves out what others did on the processor meanwhile.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// At most a huge page at a time: the system keeps the address space locked meanwhile, and one
/// thread that waits to change it (for a kernel that is made) keeps all others waiting too.
std::byte* take(std::byte* begin, std::byte* end) {
  const size_t to_boundary = kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage;
  const size_t bytes = std::min(to_boundary, static_cast<size_t>(end - begin));
  madvise(begin, bytes, MADV_POPULATE_WRITE);
  return begin + bytes;
}

/// Huge pages one by one until they turn out slow, then small ones.
void take_adaptively(std::byte* begin, std::byte* end) {
  int slow = 0;
  std::byte* at = begin;
  while (at < end && slow < kSlowPages) {
    const double before = thread_seconds();
    at = take(at, end);
    slow = thread_seconds() - before > kSlowHugePage ? slow + 1 : std::max(slow - 1, 0);
  }
  if (at == end) return;
  std::byte* const small = at;
  const auto rest = static_cast<size_t>(end - small);
  madvise(small, rest, MADV_NOHUGEPAGE);
  while (at < end) at = take(at, end);
  madvise(small, rest, MADV_HUGEPAGE);  // the kernel may join them when it has time
}

}  // namespace

AlignedMemory::AlignedMemory(size_t bytes) : bytes_(bytes) {
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

void AlignedMemory::populate() const {
  if (bytes_ == 0) return;
  const size_t first = reinterpret_cast<uintptr_t>(data()) / kHugePage;
  const size_t last = (reinterpret_cast<uintptr_t>(data()) + bytes_ - 1) / kHugePage;
  parallel_for(last - first + 1, 1, [&](size_t begin, size_t end) {
    const auto boundary = [&](size_t piece) {
      const size_t at = (first + piece) * kHugePage;
      const auto start = reinterpret_cast<uintptr_t>(data());
      return data() + (std::clamp(at, start, start + data_.get_deleter().bytes) - start);
    };
    take_adaptively(boundary(begin), boundary(end));
  });
}

void AlignedMemory::Unmap::operator()(std::byte* data) const { munmap(data, bytes); }

}  // namespace trainyard
