#include "trainer/comm/mpi_wait.h"

#include <string>
#include <thread>

#include "common/error.h"
#include "trainer/comm/mpi_check.h"

namespace trainyard {

void wait_for(std::vector<MPI_Request>& requests, const GivenUp& given_up, const char* what) {
  for (;;) {
    if (requests.empty()) return;
    int done = 0;
    check_mpi(MPI_Testall(mpi_count(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), what);
    if (done != 0) return requests.clear();
    if (given_up && given_up()) {
      throw Error(Exit::internal, std::string(what) + " waited for a rank that is lost or hangs. See that rank's log");
    }
    std::this_thread::yield();
  }
}

}  // namespace trainyard
