#include "trainer/models/memory/memory_limit.h"

#include <algorithm>

#include "trainer/base/spare_memory.h"

namespace trainyard {

namespace {

/// On the host, for what no plan knows: compiled kernels, images that are read ahead, files' pages.
constexpr size_t kHostMargin = size_t{64} << 20U;

size_t left(uint64_t free, uint64_t kept) { return free > kept ? static_cast<size_t>(free - kept) : 0; }

std::string mebibytes(uint64_t bytes) { return std::to_string((bytes + (1U << 20U) - 1) >> 20U) + " MiB"; }

}  // namespace

MemoryLimit device_memory_limit(const MemoryFigures& memory, size_t to_come) {
  // No device hands out its last byte.
  return {left(memory.free, to_come + memory.free / 64), "GPU memory",
          " of " + mebibytes(memory.total) + ", of which this rank uses " + mebibytes(memory.used),
          "end what else uses this GPU"};
}

std::optional<MemoryLimit> host_memory_limit(uint64_t free, int ranks, size_t to_come) {
  if (free == kUnknownMemory) return std::nullopt;
  const uint64_t share = free / static_cast<uint64_t>(std::max(ranks, 1));
  std::string of = " of " + mebibytes(free) + " that are free on this host";
  if (ranks > 1) of += ", shared by " + std::to_string(ranks) + " ranks";
  return MemoryLimit{left(share, to_come + share / 64 + kHostMargin), "memory", of,
                     "end what else uses this host's memory"};
}

Error out_of_memory(const MemoryLimit& limit, int batch, size_t bytes, int fits) {
  return {Exit::device,
          "out of " + limit.memory + ": a batch of " + std::to_string(batch) + " needs " + mebibytes(bytes) +
              " for activations, and " + mebibytes(limit.bytes) + " are left" + limit.of + ". " +
              (fits > 0 ? "Use --batch-size " + std::to_string(fits) + ", which fits, or a smaller --image-size"
                        : "Not even one image fits. Use a smaller --image-size, or " + limit.remedy)};
}

}  // namespace trainyard
