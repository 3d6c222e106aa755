#include "trainer/comm/mpi_wait.h"

#include <string>
#include <thread>

#include "common/error.h"
#include "trainer/comm/mpi_check.h"

namespace trainyard {

bool all_done(std::vector<MPI_Request>& requests, const char* what) {
  if (requests.empty()) return true;
  int done = 0;
  check_mpi(MPI_Testall(mpi_count(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), what);
  if (done != 0) requests.clear();
  return done != 0;
}

void wait_for(std::vector<MPI_Request>& requests, const GivenUp& given_up, const char* what) {
  while (!all_done(requests, what)) {
    if (given_up && given_up()) {
      throw Error(Exit::internal, std::string(what) + " waited for a rank that is lost or hangs. See that rank's log");
    }
    std::this_thread::yield();
  }
}

}  // namespace trainyard
