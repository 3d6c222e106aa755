#include "trainer/comm/mpi_mailbox.h"

#include <vector>

#include "trainer/comm/mpi_check.h"
#include "trainer/comm/mpi_wait.h"

namespace trainyard {
namespace {

class MpiTransfers final : public Transfers {
 public:
  MpiTransfers(MPI_Comm communicator, const GivenUp& given_up) : communicator_(communicator), given_up_(given_up) {}
  void send(int to, int tag, std::span<const float> values) override {
    send(to, tag, values.data(), values.size(), MPI_FLOAT);
  }
  void send(int to, int tag, std::span<const double> values) override {
    send(to, tag, values.data(), values.size(), MPI_DOUBLE);
  }
  void send(int to, int tag, std::span<const uint16_t> values) override {
    send(to, tag, values.data(), values.size(), MPI_UINT16_T);
  }
  void receive(int from, int tag, std::span<uint16_t> values) override {
    receive(from, tag, values.data(), values.size(), MPI_UINT16_T);
  }
  void receive(int from, int tag, std::span<float> values) override {
    receive(from, tag, values.data(), values.size(), MPI_FLOAT);
  }
  void receive(int from, int tag, std::span<double> values) override {
    receive(from, tag, values.data(), values.size(), MPI_DOUBLE);
  }
  bool done() override { return all_done(requests_, "MPI_Testall"); }
  void wait() override { wait_for(requests_, given_up_, "a message"); }

 private:
  void send(int to, int tag, const void* values, size_t size, MPI_Datatype type) {
    check_mpi(MPI_Isend(values, mpi_count(size), type, to, tag, communicator_, &requests_.emplace_back()), "MPI_Isend");
  }
  void receive(int from, int tag, void* values, size_t size, MPI_Datatype type) {
    check_mpi(MPI_Irecv(values, mpi_count(size), type, from, tag, communicator_, &requests_.emplace_back()),
              "MPI_Irecv");
  }

  MPI_Comm communicator_;
  const GivenUp& given_up_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<Transfers> MpiMailbox::transfers() { return std::make_unique<MpiTransfers>(communicator_, given_up_); }

int MpiMailbox::receive_any(int tag, std::span<double> values) {
  MPI_Status status;
  check_mpi(MPI_Recv(values.data(), mpi_count(values.size()), MPI_DOUBLE, MPI_ANY_SOURCE, tag, communicator_, &status),
            "MPI_Recv");
  return status.MPI_SOURCE;
}

bool MpiMailbox::arrived(int from, int tag) {
  int there = 0;
  check_mpi(MPI_Iprobe(from, tag, communicator_, &there, MPI_STATUS_IGNORE), "MPI_Iprobe");
  return there != 0;
}

}  // namespace trainyard
