// Waiting for other ranks, who may be gone.
#pragma once
#include <mpi.h>

#include <vector>

#include "trainer/comm/communicator.h"

namespace trainyard {

/// Lets requests move on. Returns whether all are done, and then forgets them. `what` names the
/// call. Throws Error(Exit::internal) where MPI fails.
bool all_done(std::vector<MPI_Request>& requests, const char* what);

/// Waits until all requests are done, and forgets them. Lets the processor go meanwhile, since
/// ranks may outnumber cores. `what` names the call. Throws Error(Exit::internal) where MPI fails,
/// or `given_up` says that they never will be.
void wait_for(std::vector<MPI_Request>& requests, const GivenUp& given_up, const char* what);

}  // namespace trainyard
