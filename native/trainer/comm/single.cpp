#include <algorithm>
#include <cstdlib>
#include <utility>

#include "common/error.h"
#include "trainer/comm/all_reduce_kind.h"
#include "trainer/comm/communicator.h"

namespace trainyard {
namespace {

class Single final : public Communicator {
 public:
  int rank() const override { return 0; }
  int world() const override { return 1; }
  int local_rank() const override { return 0; }
  int local_world() const override { return 1; }
  void broadcast(std::span<float>, int) override {}
  void sum(std::span<double>) override {}
  void start_sum(std::span<float>) override {}
  void start_sum(std::span<double>) override {}
  void start_sum_at_first(std::span<float>) override {}
  void progress() override {}
  void wait_all() override {}
  std::vector<std::string> gather(const std::string& text) override { return {text}; }
  std::vector<double> gather(std::span<const double> values) override { return {values.begin(), values.end()}; }
  std::string choose_all_reduce(const std::string& kind, const std::vector<std::string>& hosts, SumType type) override {
    return name_of(all_reduce_kind(kind, hosts, type));
  }
  std::unique_ptr<Communicator> part(int) override { return make_single(); }
  Mailbox& mailbox() override { throw Error(Exit::internal, "one rank has nobody to write to. Please report this"); }
};

}  // namespace

std::unique_ptr<Communicator> make_single() { return std::make_unique<Single>(); }

bool started_by_mpiexec() { return std::getenv("PMI_RANK") != nullptr; }

int processes_of_mpiexec() {
  const char* size = std::getenv("PMI_SIZE");
  return size != nullptr ? std::max(1, std::atoi(size)) : 1;
}

std::unique_ptr<Communicator> make_communicator(const std::string& kind, GivenUp given_up) {
  if (kind == "none") return make_single();
  if (kind == "mpi") return make_mpi(std::move(given_up));
  if (kind == "auto" || kind == "nccl") {
    return started_by_mpiexec() ? make_mpi(std::move(given_up)) : make_single();
  }
  throw Error(Exit::usage, "unknown --comm '" + kind + "'. Use auto, mpi, nccl or none");
}

}  // namespace trainyard
