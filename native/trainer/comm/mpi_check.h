// MPI's error codes as Error.
#pragma once
#include <mpi.h>

#include <cstddef>

namespace trainyard {

/// Throws Error(Exit::internal) naming `what` and MPI's own words unless `code` is success.
void check_mpi(int code, const char* what);

/// A length as MPI counts. Throws Error(Exit::internal) above 2^31 - 1.
int mpi_count(size_t size);

}  // namespace trainyard
