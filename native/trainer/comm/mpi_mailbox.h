// Messages by MPI.
#pragma once
#include <mpi.h>

#include "trainer/comm/communicator.h"
#include "trainer/comm/mailbox.h"

namespace trainyard {

/// Talks over `communicator`, which it does not own, nor `given_up`, which its transfers ask.
class MpiMailbox final : public Mailbox {
 public:
  MpiMailbox(MPI_Comm communicator, const GivenUp& given_up) : communicator_(communicator), given_up_(given_up) {}
  std::unique_ptr<Transfers> transfers() override;
  int receive_any(int tag, std::span<double> values) override;
  bool arrived(int from, int tag) override;

 private:
  MPI_Comm communicator_;
  const GivenUp& given_up_;
};

}  // namespace trainyard
