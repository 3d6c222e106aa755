#include "trainer/train/bench/bench_all_reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "common/error.h"
#include "trainer/comm/everyones_group.h"
#include "trainer/ops/cuda_library.h"
#include "trainer/train/loop/worker_sums.h"
#include "trainer/train/process/interval.h"

namespace trainyard {
namespace {

/// Sums where gradients would be summed: on the hosts, or between the devices.
class Summer {
 public:
  virtual ~Summer() = default;
  virtual void fill(float value) = 0;
  virtual void sum(size_t count) = 0;
  /// After the sums: the first `count`.
  virtual std::vector<float> read(size_t count) = 0;
};

class HostSummer final : public Summer {
 public:
  HostSummer(Communicator& ranks, size_t most) : ranks_(ranks), values_(most) {}
  void fill(float value) override { std::ranges::fill(values_, value); }
  void sum(size_t count) override {
    ranks_.start_sum(std::span(values_).first(count));
    ranks_.wait_all();
  }
  std::vector<float> read(size_t count) override {
    return {values_.begin(), values_.begin() + static_cast<ptrdiff_t>(count)};
  }

 private:
  Communicator& ranks_;
  std::vector<float> values_;
};

class DeviceSummer final : public Summer {
 public:
  DeviceSummer(Communicator& ranks, size_t most, int local_rank)
      : backend_(open_cuda_backend(own_cuda_device(local_rank))),
        values_(backend_->allocate(most * sizeof(float))),
        collectives_(backend_->join(everyones_group(ranks, [this] { return backend_->new_group_id(); }))),
        place_(collectives_->prepare(reinterpret_cast<float*>(values_->data()), most)) {}
  void fill(float value) override {
    const std::vector<float> values(values_->bytes() / sizeof(float), value);
    backend_->from_host(values_->data(), values.data(), values_->bytes());
  }
  void sum(size_t count) override {
    collectives_->start_sum(reinterpret_cast<float*>(values_->data()), count);
    collectives_->wait();
    backend_->synchronize();
  }
  std::vector<float> read(size_t count) override {
    std::vector<float> values(count);
    backend_->to_host(values.data(), values_->data(), count * sizeof(float));
    return values;
  }

 private:
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<BackendMemory> values_;
  DeviceCollectives* collectives_;  ///< the back end's
  std::unique_ptr<SumPlace> place_;
};

/// The mean milliseconds of a sum, the same on every rank: rank 0 decides how many there are.
double milliseconds(Summer& summer, Communicator& ranks, size_t count, double seconds) {
  summer.fill(1);
  summer.sum(count);
  const std::vector<float> sums = summer.read(count);
  const auto right = static_cast<float>(ranks.world());
  // bf16 has 8 bits: partial sums of many ranks are rounded.
  const float most = ranks.sum_type() == SumType::bf16 ? right / 64 : 0;
  const auto wrong = std::ranges::count_if(sums, [&](float sum) { return !(std::abs(sum - right) <= most); });
  std::vector<double> all{static_cast<double>(wrong)};
  ranks.sum(all);
  if (all[0] > 0) {
    throw Error(Exit::device, "a sum of " + std::to_string(count) + " numbers over " + std::to_string(ranks.world()) +
                                  " ranks came out wrong. Do not train on these nodes");
  }
  summer.fill(0);  // so that any number of sums stays finite
  const Stopwatch once;
  summer.sum(count);
  const double wanted = std::clamp(1000 * seconds / std::max(once.milliseconds(), 1e-3), 1.0, 10'000.0);
  std::array<float, 1> told{static_cast<float>(std::floor(wanted))};
  ranks.broadcast(told, 0);
  const auto rounds = static_cast<int>(told[0]);
  const Stopwatch clock;
  for (int i = 0; i < rounds; ++i) summer.sum(count);
  return clock.milliseconds() / rounds;
}

/// Sums of ranks that are all of a job, or two of it. local_rank: among all of the job.
struct Sums {
  Sums(const BenchAllReduceOptions& options, Communicator& ranks, int local_rank)
      : team({.all_reduce = options.all_reduce, .gradient_type = options.gradient_type}, ranks),
        device(set_up_sums({.comm = options.comm, .device = options.device, .all_reduce = options.all_reduce}, team)) {
    const auto most = static_cast<size_t>(options.bytes) / sizeof(float);
    if (device) {
      summer = std::make_unique<DeviceSummer>(ranks, most, local_rank);
    } else {
      summer = std::make_unique<HostSummer>(ranks, most);
    }
  }

  Team team;
  bool device;
  std::unique_ptr<Summer> summer;
};

nlohmann::json rates(size_t count, double ms, int world, bool device) {
  const double rate = static_cast<double>(count * sizeof(float)) / (1e6 * ms);
  return {{"bytes", count * sizeof(float)},
          {"ms", ms},
          {"algorithm_gbs", rate},
          {"bus_gbs", rate * 2 * (world - 1) / world},
          {"world", world},
          {"comm", device ? "nccl" : "mpi"}};
}

/// Of 32 ranks each meets so many others, so that the pairs come to their end.
constexpr int most_rounds = 8;

/// With whom this rank sums in a round: -1 where it has nobody. As a tournament has them: after
/// count - 1 rounds (count where it is odd) each has met all others.
int partner_of(int rank, int world, int round) {
  const int last = world + world % 2 - 1;
  const auto turned = [&](int place) { return place == 0 ? 0 : (place - 1 + round) % last + 1; };
  for (int place = 0; place <= last / 2; ++place) {
    const int one = turned(place);
    const int other = turned(last - place);
    if (one == rank) return other < world ? other : -1;
    if (other == rank) return one < world ? one : -1;
  }
  return -1;
}

void bench_pairs(const BenchAllReduceOptions& options, Communicator& all,
                 const std::function<void(const nlohmann::json&)>& line) {
  const int world = all.world();
  const size_t count = static_cast<size_t>(options.bytes) / sizeof(float);
  const int rounds = std::min(world + world % 2 - 1, most_rounds);
  for (int round = 0; round < rounds; ++round) {
    const int partner = partner_of(all.rank(), world, round);
    const std::unique_ptr<Communicator> pair = all.part(partner < 0 ? all.rank() : std::min(all.rank(), partner));
    double ms = 0;
    bool device = false;
    if (partner >= 0) {
      const Sums sums(options, *pair, all.local_rank());
      device = sums.device;
      ms = milliseconds(*sums.summer, *pair, count, options.seconds);
      // Something else may have used CPU or link the first time.
      ms = std::min(ms, milliseconds(*sums.summer, *pair, count, options.seconds));
    }
    const std::array<double, 1> own{ms};
    const std::vector<double> of_all = all.gather(std::span<const double>(own));
    for (int rank = 0; rank < world; ++rank) {
      const int other = partner_of(rank, world, round);
      if (other < rank) continue;
      nlohmann::json said = rates(count, of_all[static_cast<size_t>(rank)], 2, device);
      said["pair"] = {rank, other};
      line(said);
    }
  }
}

uint64_t bytes_of_a_sum(Summer& summer, const Communicator& ranks, size_t count) {
  const uint64_t before = ranks.sent_bytes();
  summer.sum(count);
  return ranks.sent_bytes() - before;
}

}  // namespace

void bench_all_reduce(const BenchAllReduceOptions& options, Communicator& communicator,
                      const std::function<void(const nlohmann::json&)>& line) {
  const int world = communicator.world();
  if (world == 1) {
    throw Error(Exit::usage,
                "a single rank has nothing to sum. Start several: mpiexec -n 4 trainer bench allreduce, or trainyard "
                "run PROFILE -- bench allreduce");
  }
  const Sums sums(options, communicator, communicator.local_rank());
  const auto most = static_cast<size_t>(options.bytes) / sizeof(float);
  for (size_t count = std::min<size_t>(1024, most);; count = std::min(4 * count, most)) {
    const double ms = milliseconds(*sums.summer, communicator, count, options.seconds);
    const bool known = !sums.device && sums.team.all_reduce() != "library";
    nlohmann::json said = rates(count, ms, world, sums.device);
    said["all_reduce"] = sums.device ? options.all_reduce : sums.team.all_reduce();
    said["gradient_type"] = options.gradient_type;
    said["sent_bytes"] = known ? nlohmann::json(bytes_of_a_sum(*sums.summer, communicator, count)) : nullptr;
    line(said);
    if (count == most) break;
  }
  if (options.pairs) bench_pairs(options, communicator, line);
}

}  // namespace trainyard
