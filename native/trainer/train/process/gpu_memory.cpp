#include "trainer/train/process/gpu_memory.h"

namespace trainyard {

std::optional<MemoryFigures> memory_of_both(std::optional<MemoryFigures> first,
                                            const std::optional<MemoryFigures>& second) {
  if (!first || !second) return first;
  first->used += second->used;
  first->peak += second->peak;
  return first;
}

void fill_gpu_memory(RankFigures& figures, const std::optional<MemoryFigures>& memory) {
  if (!memory) return;
  figures.gpu_used = static_cast<double>(memory->used);
  figures.gpu_peak = static_cast<double>(memory->peak);
  figures.gpu_free = static_cast<double>(memory->free);
}

}  // namespace trainyard
