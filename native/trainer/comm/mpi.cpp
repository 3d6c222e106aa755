#include <mpi.h>

#include <array>
#include <cstring>
#include <exception>
#include <limits>

#include "common/error.h"
#include "trainer/comm/communicator.h"

namespace trainyard {
namespace {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(Exit::internal, std::string(what) + " failed: " + std::string(text.data(), static_cast<size_t>(length)) +
                                  ". Another rank may have ended; see its log");
}

int count_of(size_t size) {
  if (size > static_cast<size_t>(std::numeric_limits<int>::max())) {
    throw Error(Exit::internal, "a message of more than 2^31 elements. Please report this");
  }
  return static_cast<int>(size);
}

class Mpi final : public Communicator {
 public:
  Mpi() {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &world_), "MPI_Comm_size");
    MPI_Comm local = MPI_COMM_NULL;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local),
          "MPI_Comm_split_type");
    check(MPI_Comm_rank(local, &local_rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(local, &local_world_), "MPI_Comm_size");
    check(MPI_Comm_free(&local), "MPI_Comm_free");
  }
  ~Mpi() override {
    if (std::uncaught_exceptions() == exceptions_at_start_) MPI_Finalize();
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  int rank() const override { return rank_; }
  int world() const override { return world_; }
  int local_rank() const override { return local_rank_; }
  int local_world() const override { return local_world_; }

  void broadcast(std::span<float> values, int root) override {
    check(MPI_Bcast(values.data(), count_of(values.size()), MPI_FLOAT, root, MPI_COMM_WORLD), "MPI_Bcast");
  }
  void sum(std::span<double> values) override {
    check(MPI_Allreduce(MPI_IN_PLACE, values.data(), count_of(values.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
          "MPI_Allreduce");
  }
  void start_sum(std::span<float> values) override { start(values.data(), values.size(), MPI_FLOAT); }
  void start_sum(std::span<double> values) override { start(values.data(), values.size(), MPI_DOUBLE); }
  void progress() override {
    if (requests_.empty()) return;
    int done = 0;
    check(MPI_Testall(count_of(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (done != 0) requests_.clear();
  }
  void wait_all() override {
    if (requests_.empty()) return;
    check(MPI_Waitall(count_of(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    requests_.clear();
  }
  std::vector<std::string> gather(const std::string& text) override {
    constexpr size_t kWidth = 256;
    std::array<char, kWidth> mine{};
    std::memcpy(mine.data(), text.data(), std::min(text.size(), kWidth - 1));
    std::vector<char> all(kWidth * static_cast<size_t>(world_));
    check(MPI_Allgather(mine.data(), kWidth, MPI_CHAR, all.data(), kWidth, MPI_CHAR, MPI_COMM_WORLD), "MPI_Allgather");
    std::vector<std::string> texts;
    for (size_t r = 0; r < static_cast<size_t>(world_); ++r) texts.emplace_back(all.data() + r * kWidth);
    return texts;
  }
  std::vector<double> gather(std::span<const double> values) override {
    std::vector<double> all(values.size() * static_cast<size_t>(world_));
    const int count = count_of(values.size());
    check(MPI_Allgather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, MPI_COMM_WORLD),
          "MPI_Allgather");
    return all;
  }

 private:
  void start(void* values, size_t size, MPI_Datatype type) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(MPI_IN_PLACE, values, count_of(size), type, MPI_SUM, MPI_COMM_WORLD, &request),
          "MPI_Iallreduce");
    requests_.push_back(request);
  }

  int rank_ = 0;
  int world_ = 1;
  int local_rank_ = 0;
  int local_world_ = 1;
  int exceptions_at_start_ = std::uncaught_exceptions();
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<Communicator> make_mpi() { return std::make_unique<Mpi>(); }

}  // namespace trainyard
