#include "trainer/comm/mpi_check.h"

#include <array>
#include <limits>
#include <string>

#include "common/error.h"

namespace trainyard {

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(Exit::internal, std::string(what) + " failed: " + std::string(text.data(), static_cast<size_t>(length)) +
                                  ". Another rank may have ended; see its log");
}

int mpi_count(size_t size) {
  if (size > static_cast<size_t>(std::numeric_limits<int>::max())) {
    throw Error(Exit::internal, "a message of more than 2^31 elements. Please report this");
  }
  return static_cast<int>(size);
}

}  // namespace trainyard
