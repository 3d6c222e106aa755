// `central-storage`: rank 0 alone keeps the optimizer's memory. Gradients are summed there, it
// updates the weights, and every worker gets a copy.
#pragma once
#include "trainer/strategies/strategy.h"

namespace trainyard {

std::unique_ptr<Strategy> make_central_storage(Communicator& workers, const Variables& variables,
                                               const OptimizerOptions& optimizer);

}  // namespace trainyard
