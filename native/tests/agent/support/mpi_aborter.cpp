// An MPI program for tests: `mpi_aborter 0` sums its ranks; any other number is what rank 1 aborts
// with, after saying why.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const int code = argc > 1 ? std::atoi(argv[1]) : 0;
  if (code != 0 && rank == 1) {
    std::fprintf(stderr, "trainer: error: rank 1: no such device. Choose another\n");
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);  // MPI_Abort may come back before the proxy has ended this process
  }
  if (code != 0) MPI_Barrier(MPI_COMM_WORLD);  // never comes back: rank 1 is gone
  if (rank == 0) std::printf("sum %d\n", sum);
  MPI_Finalize();
  return 0;
}
