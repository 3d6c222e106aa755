// Ops that are several ops in one, beside those ops of the reference.
#pragma once
#include "trainer/ops/selftest/bench.h"

namespace trainyard::selftest_detail {

void batch_norm_pair(Comparison& all, const Shape& shape);
void batch_norm_pool(Comparison& all, const Shape& shape, int pad);

}  // namespace trainyard::selftest_detail
