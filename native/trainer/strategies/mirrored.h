// `mirrored` and `multi-worker`: every worker keeps all variables, gradients are averaged by
// all-reduce, and each worker applies the same update.
#pragma once
#include "trainer/strategies/strategy.h"

namespace trainyard {

std::unique_ptr<Strategy> make_mirrored(Communicator& workers, const Variables& variables,
                                        const OptimizerOptions& optimizer);

}  // namespace trainyard
