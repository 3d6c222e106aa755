// `parameter-server`: variables and the optimizer's memory lie on servers. In every step they add
// up the gradients of all workers, in the order of their ranks, update their part, and send it
// back.
#pragma once
#include "trainer/strategies/team.h"

namespace trainyard {

/// A worker's part; server.h is the other one.
std::unique_ptr<Strategy> make_parameter_server(const Team& team, Communicator& workers, const Variables& variables,
                                                const OptimizerOptions& optimizer);

}  // namespace trainyard
