// How a rank learns that the supervisor has given up other ranks: common/given_up.h.
#pragma once
#include <string>

#include "trainer/comm/communicator.h"

namespace trainyard {

/// Looks for the file at most ten times a second. Only where ranks share a file system with the
/// head, rank 0 among them, is there ever one.
GivenUp ask_supervisor(const std::string& run_dir);

}  // namespace trainyard
