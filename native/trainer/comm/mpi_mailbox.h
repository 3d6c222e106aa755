// Messages by MPI.
#pragma once
#include <mpi.h>

#include "trainer/comm/mailbox.h"

namespace trainyard {

/// Talks over `communicator`, which it does not own.
class MpiMailbox final : public Mailbox {
 public:
  explicit MpiMailbox(MPI_Comm communicator) : communicator_(communicator) {}
  std::unique_ptr<Transfers> transfers() override;
  int receive_any(int tag, std::span<double> values) override;
  bool arrived(int from, int tag) override;

 private:
  MPI_Comm communicator_;
};

}  // namespace trainyard
