// Ops that are several ops in one, beside those ops of the reference.
#pragma once
#include "trainer/ops/selftest/bench.h"

namespace trainyard::selftest_detail {

void batch_norm_pair(Comparison& all, const Shape& shape);
void batch_norm_pool(Comparison& all, const Shape& shape, int pad);

/// A convolution of one pixel to `out` channels, and the batch norm of its outputs: by sums that
/// come with the convolution, where the back end has them.
void normalised_convolution(Comparison& all, const Shape& in, int out);

/// The gradient of `in`, an output of batch norm with such an end, of a convolution of one pixel to
/// `out` channels: with that end, where the back end has it.
void ended_gradient(Comparison& all, const Shape& in, int out, GradientEndKind kind);

/// The gradients of a convolution of one pixel of `in`, an output of batch norm, to `out` channels
/// that a batch norm behind it normalises: with that one merged, where the back end does so.
void merged_gradient(Comparison& all, const Shape& in, int out);

}  // namespace trainyard::selftest_detail
