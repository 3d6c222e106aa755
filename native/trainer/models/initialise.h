// First values of weights and statistics.
#pragma once
#include <span>
#include <vector>

#include "trainer/layers/parameter.h"

namespace trainyard {

/// Draws every tensor from its own stream, keyed by seed and name: the same on every rank, and not
/// moved by layers added elsewhere.
void initialise(const std::vector<Parameter>& parameters, uint64_t seed, std::span<float> arena);

}  // namespace trainyard
