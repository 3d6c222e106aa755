// `parameter-server-async`: each worker pushes its own gradients to the servers, which apply them
// at once, and goes on with the weights that come back. Nobody waits for another worker, but for
// checkpoints.
#pragma once
#include "trainer/strategies/team.h"

namespace trainyard {

/// A worker's part; server.h is the other one.
std::unique_ptr<Strategy> make_parameter_server_async(const Team& team, Communicator& workers,
                                                      const Variables& variables, const OptimizerOptions& optimizer);

}  // namespace trainyard
