// `agent serve`: RPC over stdin and stdout.
#pragma once

namespace trainyard {

/// Serves until stdin closes; returns the exit code. Runs and TensorBoards that it started live on.
int serve();

}  // namespace trainyard
