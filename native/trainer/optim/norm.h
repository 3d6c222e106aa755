// Lengths of gradients and weights.
#pragma once
#include <span>

namespace trainyard {

/// The sum of squares, in double. The order of summation depends on the count alone, never on
/// threads, so every rank gets the same bits.
double squared_length(std::span<const float> values);

}  // namespace trainyard
