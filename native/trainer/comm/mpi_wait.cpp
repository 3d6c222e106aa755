#include "trainer/comm/mpi_wait.h"

#include <string>
#include <thread>

#include "common/error.h"
#include "trainer/base/note.h"
#include "trainer/comm/mpi_check.h"

namespace trainyard {

namespace {

constexpr int kSpins = 256;  // between two notes: asking takes as long as a spin

/// Of several requests the first one that is not done.
void note_waiting(const std::vector<MPI_Request>& requests) {
  for (size_t index = 0; requests.size() > 1 && index < requests.size(); ++index) {
    int done = 0;
    check_mpi(MPI_Request_get_status(requests[index], &done, MPI_STATUS_IGNORE), "MPI_Request_get_status");
    if (done == 0) return note_part(index + 1, requests.size());
  }
}

}  // namespace

bool all_done(std::vector<MPI_Request>& requests, const char* what) {
  if (requests.empty()) return true;
  int done = 0;
  check_mpi(MPI_Testall(mpi_count(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), what);
  if (done != 0) requests.clear();
  return done != 0;
}

void wait_for(std::vector<MPI_Request>& requests, const GivenUp& given_up, const char* what) {
  for (int spins = 1; !all_done(requests, what); ++spins) {
    if (given_up && given_up()) {
      throw Error(Exit::internal, std::string(what) + " waited for a rank that is lost or hangs. See that rank's log");
    }
    if (spins == kSpins) {
      note_waiting(requests);
      spins = 0;
    }
    std::this_thread::yield();
  }
}

}  // namespace trainyard
