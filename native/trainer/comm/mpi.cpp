#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>

#include "common/error.h"
#include "trainer/base/note.h"
#include "trainer/comm/all_reduce_kind.h"
#include "trainer/comm/communicator.h"
#include "trainer/comm/mpi_check.h"
#include "trainer/comm/mpi_mailbox.h"
#include "trainer/comm/mpi_wait.h"
#include "trainer/comm/scheduled_sum.h"

namespace trainyard {
namespace {

/// MPI_Init to MPI_Finalize, which is left out while an exception passes.
class Session {
 public:
  explicit Session(GivenUp given_up) : given_up_(std::move(given_up)) {
    int provided = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    if (provided < MPI_THREAD_FUNNELED) {
      throw Error(Exit::device, "this MPI library cannot be used by a process with threads. Use the runtime's own");
    }
  }
  ~Session() {
    if (std::uncaught_exceptions() == exceptions_at_start_) MPI_Finalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  const GivenUp& given_up() const { return given_up_; }

 private:
  GivenUp given_up_;
  int exceptions_at_start_ = std::uncaught_exceptions();
};

/// A communicator handle, freed before MPI ends.
class Handle {
 public:
  Handle() = default;
  ~Handle() {
    if (value != MPI_COMM_NULL && std::uncaught_exceptions() == exceptions_at_start_) MPI_Comm_free(&value);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  MPI_Comm value = MPI_COMM_NULL;

 private:
  int exceptions_at_start_ = std::uncaught_exceptions();
};

class Mpi final : public Communicator {
 public:
  /// session: shared by all parts of the world, and ended after the last of them.
  Mpi(std::shared_ptr<Session> session, MPI_Comm parent, int color) : session_(std::move(session)) {
    check_mpi(MPI_Comm_split(parent, color, 0, &all_.value), "MPI_Comm_split");
    check_mpi(MPI_Comm_set_errhandler(all_.value, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_dup(all_.value, &messages_.value), "MPI_Comm_dup");
    check_mpi(MPI_Comm_dup(all_.value, &sums_comm_.value), "MPI_Comm_dup");
    mailbox_.emplace(messages_.value, session_->given_up());
    sums_mailbox_.emplace(sums_comm_.value, session_->given_up());
    check_mpi(MPI_Comm_rank(all_.value, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(all_.value, &world_), "MPI_Comm_size");
    Handle local;
    check_mpi(MPI_Comm_split_type(all_.value, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local.value),
              "MPI_Comm_split_type");
    check_mpi(MPI_Comm_rank(local.value, &local_rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(local.value, &local_world_), "MPI_Comm_size");
    everyone_.resize(static_cast<size_t>(world_));
    std::iota(everyone_.begin(), everyone_.end(), 0);
  }

  int rank() const override { return rank_; }
  int world() const override { return world_; }
  int local_rank() const override { return local_rank_; }
  int local_world() const override { return local_world_; }

  void broadcast(std::span<float> values, int root) override {
    // Not MPI_Bcast: MPICH's own inside a host waits without yielding, which costs a second where
    // ranks outnumber cores.
    std::vector<int> members = everyone_;
    std::rotate(members.begin(), members.begin() + root, members.end());
    const auto place = static_cast<size_t>((rank_ - root + world_) % world_);
    ScheduledSum(*sums_mailbox_, values, tree_copy_rounds(members, place, values.size()), take_tag(), SumType::fp32)
        .wait();
  }
  void sum(std::span<double> values) override {
    std::vector<MPI_Request> request(1);
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, values.data(), mpi_count(values.size()), MPI_DOUBLE, MPI_SUM, all_.value,
                             request.data()),
              "MPI_Iallreduce");
    wait_for(request, session_->given_up(), "MPI_Iallreduce");
  }
  void start_sum(std::span<float> values) override {
    switch (kind_) {
      case AllReduceKind::library:
        start(values.data(), values.size(), MPI_FLOAT);
        break;
      case AllReduceKind::direct:
        start(values, direct_rounds(everyone_, me(), values.size()), type_);
        break;
      case AllReduceKind::ring:
        start(values, ring_rounds(everyone_, me(), values.size()), type_);
        break;
      case AllReduceKind::tree:
        start(values, tree_rounds(everyone_, me(), values.size()), type_);
        break;
      case AllReduceKind::hierarchical:
        start(values, hierarchical_rounds(hosts_, me(), values.size()), type_);
        break;
    }
  }
  void start_sum(std::span<double> values) override { start(values.data(), values.size(), MPI_DOUBLE); }
  void start_sum_at_first(std::span<float> values) override {
    start(values, tree_sum_rounds(everyone_, me(), values.size()), SumType::fp32);
  }
  void progress() override {
    all_done(requests_, "MPI_Testall");
    for (ScheduledSum& one : sums_) one.advance();
  }
  void wait_all() override {
    const size_t parts = sums_.size() + requests_.size();
    size_t part = 0;
    for (ScheduledSum& one : sums_) {
      note_part(++part, parts);
      one.wait();
    }
    if (part < parts) note_part(part + 1, parts);
    sums_.clear();
    wait_for(requests_, session_->given_up(), "MPI_Iallreduce");
  }
  std::vector<std::string> gather(const std::string& text) override {
    constexpr size_t kWidth = 256;
    std::array<char, kWidth> mine{};
    std::memcpy(mine.data(), text.data(), std::min(text.size(), kWidth - 1));
    std::vector<char> all(kWidth * static_cast<size_t>(world_));
    gather(mine.data(), kWidth, MPI_CHAR, all.data());
    std::vector<std::string> texts;
    for (size_t r = 0; r < static_cast<size_t>(world_); ++r) texts.emplace_back(all.data() + r * kWidth);
    return texts;
  }
  std::vector<double> gather(std::span<const double> values) override {
    std::vector<double> all(values.size() * static_cast<size_t>(world_));
    gather(values.data(), mpi_count(values.size()), MPI_DOUBLE, all.data());
    return all;
  }

  std::string choose_all_reduce(const std::string& kind, const std::vector<std::string>& hosts, SumType type) override {
    kind_ = all_reduce_kind(kind, hosts, type);
    type_ = type;
    hosts_ = hosts;
    return name_of(kind_);
  }
  SumType sum_type() const override { return type_; }
  uint64_t sent_bytes() const override { return sent_bytes_; }
  std::unique_ptr<Communicator> part(int color) override { return std::make_unique<Mpi>(session_, all_.value, color); }
  Mailbox& mailbox() override { return *mailbox_; }

 private:
  size_t me() const { return static_cast<size_t>(rank_); }

  void gather(const void* mine, int count, MPI_Datatype type, void* all) {
    std::vector<MPI_Request> request(1);
    check_mpi(MPI_Iallgather(mine, count, type, all, count, type, all_.value, request.data()), "MPI_Iallgather");
    wait_for(request, session_->given_up(), "MPI_Iallgather");
  }
  void start(void* values, size_t size, MPI_Datatype type) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, values, mpi_count(size), type, MPI_SUM, all_.value, &request),
              "MPI_Iallreduce");
    requests_.push_back(request);
  }
  /// What is under way is told apart by its number; MPI promises tags up to 32767.
  int take_tag() { return std::exchange(next_tag_, (next_tag_ + 1) % 32768); }
  void start(std::span<float> values, std::vector<Round> rounds, SumType type) {
    for (const Round& round : rounds) {
      sent_bytes_ += (round.send.end - round.send.begin) * (type == SumType::bf16 ? 2 : sizeof(float));
    }
    sums_.emplace_back(*sums_mailbox_, values, std::move(rounds), take_tag(), type);
  }

  std::shared_ptr<Session> session_;
  Handle all_;
  Handle messages_;   ///< the mailbox's
  Handle sums_comm_;  ///< of sums by schedule
  std::optional<MpiMailbox> mailbox_;
  std::optional<MpiMailbox> sums_mailbox_;
  int rank_ = 0;
  int world_ = 1;
  int local_rank_ = 0;
  int local_world_ = 1;
  std::vector<int> everyone_;
  AllReduceKind kind_ = AllReduceKind::library;
  SumType type_ = SumType::fp32;
  uint64_t sent_bytes_ = 0;
  std::vector<std::string> hosts_;
  std::vector<MPI_Request> requests_;
  std::vector<ScheduledSum> sums_;
  int next_tag_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> make_mpi(GivenUp given_up) {
  auto session = std::make_shared<Session>(std::move(given_up));
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return std::make_unique<Mpi>(std::move(session), MPI_COMM_WORLD, 0);
}

}  // namespace trainyard
