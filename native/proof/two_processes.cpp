// Two processes that share one device, each with half of the images, beside one process with all of
// them.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "common/error.h"
#include "proof/parts.h"
#include "proof/report.h"
#include "proof/training.h"
#include "trainer/ops/selftest/bench.h"

namespace trainyard::proof {
namespace {

constexpr int kRanks = 2;
constexpr int kSteps = 3;
constexpr size_t kFloats = size_t{1} << 20U;  ///< more than resnet20 has weights
constexpr size_t kDoubles = 4096;             ///< more than a layer has statistics

/// Memory of both processes. Made before they are.
struct Meeting {
  pthread_barrier_t barrier;
  std::array<std::array<double, kDoubles>, kRanks> statistics;
  std::array<std::array<float, kFloats>, kRanks> values;
  size_t count;
};

class SharedMeeting {
 public:
  SharedMeeting() {
    void* memory = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error(Exit::internal, std::string("mmap: ") + std::strerror(errno));
    meeting_ = static_cast<Meeting*>(memory);
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&meeting_->barrier, &attributes, kRanks);
    pthread_barrierattr_destroy(&attributes);
  }
  SharedMeeting(const SharedMeeting&) = delete;
  SharedMeeting& operator=(const SharedMeeting&) = delete;
  ~SharedMeeting() { munmap(meeting_, sizeof(Meeting)); }
  Meeting& operator*() const { return *meeting_; }

 private:
  Meeting* meeting_ = nullptr;
};

/// Sums over both, in the order of the ranks.
template <class Slots, class Number>
void sum_over(Meeting& meeting, Slots& slots, int rank, std::span<Number> values) {
  if (values.size() > slots[0].size()) throw Error(Exit::internal, "the processes' common memory is too small");
  std::ranges::copy(values, slots[static_cast<size_t>(rank)].begin());
  pthread_barrier_wait(&meeting.barrier);
  for (size_t i = 0; i < values.size(); ++i) values[i] = slots[0][i] + slots[1][i];
  pthread_barrier_wait(&meeting.barrier);
}

class Statistics final : public StatisticsReducer {
 public:
  Statistics(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  void sum(double* values, size_t count) override {
    sum_over(meeting_, meeting_.statistics, rank_, std::span(values, count));
  }
  int world() const override { return kRanks; }

 private:
  Meeting& meeting_;
  int rank_;
};

/// One process's part. Its weights stand in the meeting afterwards.
void train_half(Meeting& meeting, int rank, const std::string& device) {
  Statistics statistics(meeting, rank);
  Setup setup{.model = "resnet20", .batch = 4, .sync_batch_norm = &statistics};
  Training training(setup, open(device));
  training.see(rank * setup.batch, kRanks * setup.batch);
  for (int step = 0; step < kSteps; ++step) {
    training.gradients();
    sum_over(meeting, meeting.values, rank, training.network().gradients());
    for (float& gradient : training.network().gradients()) gradient /= kRanks;
    training.descend();
  }
  const auto weights = training.network().weights();
  std::ranges::copy(weights, meeting.values[static_cast<size_t>(rank)].begin());
  meeting.count = weights.size();
}

pid_t start(Meeting& meeting, int rank, const std::string& device) {
  const pid_t pid = fork();
  if (pid < 0) throw Error(Exit::internal, std::string("fork: ") + std::strerror(errno));
  if (pid > 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = 1;
  try {
    train_half(meeting, rank, device);
    code = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "process %d: %s\n", rank, error.what());
  }
  _exit(code);
}

/// Waits for both; the other one is ended when one fails, since it would wait for ever.
void wait_for(const std::array<pid_t, kRanks>& children) {
  bool failed = false;
  for (int left = kRanks; left > 0; --left) {
    int status = 0;
    const pid_t ended = wait(&status);
    if (ended < 0) throw Error(Exit::internal, std::string("wait: ") + std::strerror(errno));
    if (status == 0) continue;
    if (!failed) {
      for (const pid_t child : children) {
        if (child != ended) kill(child, SIGKILL);
      }
    }
    failed = true;
  }
  if (failed) throw Error(Exit::internal, "a process of two that share a device failed");
}

}  // namespace

bool two_processes(const std::string& device) {
  const SharedMeeting shared;
  Meeting& meeting = *shared;
  // This process touches the device only when the others, which it forks, are gone: CUDA does not
  // survive a fork.
  wait_for({start(meeting, 0, device), start(meeting, 1, device)});
  Training alone({.model = "resnet20", .batch = 4 * kRanks}, open(device));
  for (int step = 0; step < kSteps; ++step) alone.step();
  const auto weights = [&](size_t rank) { return std::span<const float>(meeting.values[rank]).first(meeting.count); };
  const std::string what = "resnet20, three steps";
  // As in networks(): a rounding grows by about ten a step.
  bool all = report(what, "weights of two processes beside those of one",
                    selftest_detail::distance(weights(0), alone.network().weights()), 2e-3);
  return report(what, "weights of both processes", selftest_detail::distance(weights(0), weights(1)), 0) && all;
}

}  // namespace trainyard::proof
