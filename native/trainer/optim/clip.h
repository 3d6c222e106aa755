// Gradients cut to a length.
#pragma once
#include <span>

namespace trainyard {

/// Scales gradients longer than `limit` (Euclidean length of all of them together) down to it: by
/// limit / (length + 1e-6), as PyTorch's clip_grad_norm_. Returns the length before. Gradients that
/// are not finite stay as they are.
double clip_to_length(std::span<float> gradients, double limit);

/// The same for a part of gradients whose whole length is known.
void cut_to_length(std::span<float> gradients, double length, double limit);

}  // namespace trainyard
