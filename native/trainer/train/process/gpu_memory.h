// What a rank holds of its GPU's memory.
#pragma once
#include <optional>

#include "trainer/ops/contract/memory_figures.h"
#include "trainer/strategies/report.h"

namespace trainyard {

/// Of two networks of a rank on one device. Their peaks need not be at the same time, so that of
/// both is at most the sum that this gives; free and total are the first one's. Nothing where the
/// first has no memory of a device.
std::optional<MemoryFigures> memory_of_both(std::optional<MemoryFigures> first,
                                            const std::optional<MemoryFigures>& second);

/// Leaves gpu_used, gpu_peak and gpu_free alone where there is no such memory.
void fill_gpu_memory(RankFigures& figures, const std::optional<MemoryFigures>& memory);

}  // namespace trainyard
