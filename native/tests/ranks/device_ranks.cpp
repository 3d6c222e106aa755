// Ranks under mpiexec that train in device memory which the host may not touch, beside the same
// training whose gradients meet on the hosts by MPI. `device_ranks SCENARIO`: prints what is wrong
// and ends with 1.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "common/error.h"
#include "common/stopwatch.h"
#include "tests/models/trainee.h"
#include "tests/ops/host/host_collectives.h"
#include "trainer/comm/everyones_group.h"
#include "trainer/strategies/central_storage.h"
#include "trainer/strategies/parameter_server/server.h"

namespace trainyard::test {
namespace {

/// What is to hold, on every rank.
void require(bool holds, const std::string& what) {
  if (!holds) throw Error(Exit::internal, what);
}

std::shared_ptr<Communicator> world() {
  static const std::shared_ptr<Communicator> all = make_mpi();
  return all;
}

/// Ranks begin with weights of their own, so that who is not told rank 0's is seen.
TraineeOptions options(const std::string& model, const OptimizerOptions& optimizer, bool group) {
  TraineeOptions wanted{.model = model, .optimizer = optimizer};
  wanted.seed = static_cast<uint64_t>(world()->rank()) + 1;
  // Its gradients take four buckets.
  if (model == "mlp") wanted.size = 64;
  if (group) wanted.groups = {new_host_group, join_host_group};
  return wanted;
}

void require_alike(std::span<const float> device, std::span<const float> host, const std::string& what) {
  const double apart = distance(device, host);
  require(apart <= 1e-6, what + " are " + std::to_string(apart) + " apart");
  double sum = 0;
  for (const float value : device) sum += double{value} * double{value};
  for (const double other : world()->gather(std::span<const double>(&sum, 1))) {
    require(other == sum, what + " differ among the ranks");
  }
}

/// Three clipped steps, from one model and optimizer.
void same(const std::string& model, const std::string& kind) {
  const OptimizerOptions optimizer{.kind = kind};
  TraineeOptions by_mpi = options(model, optimizer, false);
  by_mpi.on_device = world()->world() == 1;
  Trainee host(world(), by_mpi);
  Trainee device(world(), options(model, optimizer, true));
  require((host.device() != nullptr) == by_mpi.on_device && device.device() != nullptr, "the wrong path was taken");
  const std::vector<float> before(host.network().weights().begin(), host.network().weights().end());
  require_alike(device.network().weights(), host.network().weights(), "the first weights");
  for (int64_t number = 1; number <= 3; ++number) {
    const double want = host.step(number, 0.5);
    const double got = device.step(number, 0.5);
    require(std::abs(got - want) <= 1e-6 * want, "lengths of gradients differ");
    require(device.images() == 4.0 * world()->world(), "images were not counted");
  }
  host.fetch();
  device.fetch();
  require(distance(before, host.network().weights()) > 1e-4, "nothing was learned");
  require_alike(device.network().weights(), host.network().weights(), "weights");
  const auto want = host.strategy().state();
  const auto got = device.strategy().state();
  require(want.size() == got.size(), "another optimizer's state");
  for (size_t i = 0; i < want.size(); ++i) {
    require_alike(got[i].values, want[i].values, "the optimizer's " + want[i].suffix);
  }
  // A checkpoint that rank 0 alone has read becomes everyone's.
  for (float& weight : device.network().weights()) weight = static_cast<float>(world()->rank());
  for (const OptimizerState& part : device.strategy().state()) {
    for (float& value : part.values) value = static_cast<float>(world()->rank()) + 2;
  }
  device.share();
  device.fetch();
  for (const float weight : device.network().weights()) require(weight == 0, "weights are not rank 0's");
  for (const OptimizerState& part : device.strategy().state()) {
    for (const float value : part.values) require(value == 2, "the optimizer's state is not rank 0's");
  }
}

/// Variables of rank 0 alone: gradients and weights pass the host.
void central() {
  TraineeOptions wanted = options("resnet20", {}, false);
  wanted.make = make_central_storage;
  Trainee central(world(), wanted);
  wanted.make = make_mirrored;
  wanted.on_device = false;
  Trainee mirrored(world(), wanted);
  for (int64_t number = 1; number <= 2; ++number) {
    central.step(number, 0.5);
    mirrored.step(number, 0.5);
  }
  require_alike(central.network().weights(), mirrored.network().weights(), "weights");
}

/// What a rank of the world tells of its steps, unlike every other one.
RankFigures own_figures() {
  const double rank = world()->rank();
  return {.steps = 10, .compute_ms = rank + 0.25, .comm_ms = rank + 0.5, .input_wait_ms = rank + 0.75};
}

/// Rank 0 has the figures of each of the first `workers` ranks in its place, and of the others
/// none.
void require_figures(const Report& report, int workers) {
  if (world()->rank() != 0) return;
  require(report.ranks.size() == static_cast<size_t>(world()->world()), "figures of so many ranks");
  for (int rank = 0; rank < world()->world(); ++rank) {
    const RankFigures& one = report.ranks[static_cast<size_t>(rank)];
    const bool trains = rank < workers;
    require(one.steps == (trains ? 10 : 0), "steps of rank " + std::to_string(rank));
    require(one.compute_ms == (trains ? rank + 0.25 : 0), "computing of rank " + std::to_string(rank));
    require(one.comm_ms == (trains ? rank + 0.5 : 0), "waits for ranks of rank " + std::to_string(rank));
    require(one.input_wait_ms == (trains ? rank + 0.75 : 0), "waits for images of rank " + std::to_string(rank));
  }
}

/// Every rank's figures come to rank 0, wherever variables are kept.
void figures() {
  for (const StrategyMaker& make : {StrategyMaker(make_mirrored), StrategyMaker(make_central_storage)}) {
    TraineeOptions wanted = options("mlp", {}, false);
    wanted.make = make;
    wanted.on_device = false;
    Trainee trainee(world(), wanted);
    require_figures(trainee.strategy().report(own_figures()), world()->world());
  }
}

/// Variables of the last rank alone, which trains nothing.
void served(const std::string& kind) {
  const Team team({.kind = kind, .servers = 1}, *world());
  if (team.serves()) {
    serve_variables(team, {.optimizer = {}, .alive = [](int64_t) {}, .memory = [] { return RankFigures{}; }});
    return;
  }
  const std::shared_ptr<Communicator> workers(world(), &team.peers());
  TraineeOptions wanted = options("resnet20", {}, false);
  wanted.on_device = false;
  Trainee mirrored(workers, wanted);
  wanted.make = team.maker();
  Trainee trainee(workers, wanted);
  (void)trainee.strategy().report(own_figures());  // a worker that does not wait sends them with its next push
  for (int64_t number = 1; number <= 3; ++number) {
    mirrored.step(number, 0.5);
    trainee.step(number, 0.5);
  }
  require_figures(trainee.strategy().report(own_figures()), world()->world() - 1);
  trainee.strategy().collect();
  const double apart = distance(trainee.network().weights(), mirrored.network().weights());
  require(apart <= 1e-6, "weights are " + std::to_string(apart) + " apart");
  trainee.strategy().end(false);
}

/// Updates of three micro-batches each.
void micro() {
  TraineeOptions by_mpi = options("mlp", {}, false);
  by_mpi.on_device = false;
  Trainee host(world(), by_mpi);
  Trainee device(world(), options("mlp", {}, true));
  for (int64_t number = 1; number <= 2; ++number) {
    for (Trainee* trainee : {&host, &device}) {
      trainee->gradients(number, 1, 3);
      trainee->apply(number);
    }
  }
  device.fetch();
  require_alike(device.network().weights(), host.network().weights(), "weights");
}

/// Gradients that travel as bf16, by MPI and among devices, beside the same training in fp32.
void narrow() {
  TraineeOptions by_mpi = options("mlp", {}, false);
  by_mpi.on_device = false;
  const auto hosts = world()->gather("host");
  uint64_t counted = 0;
  uint64_t used = 0;
  size_t weights_bytes = 0;
  const auto train = [&](const TraineeOptions& wanted) {
    Trainee trainee(world(), wanted);
    counted = trainee.network().memory_bytes();
    used = trainee.network().device_memory()->used;
    weights_bytes = trainee.network().weights().size_bytes();
    for (int64_t number = 1; number <= 3; ++number) trainee.step(number, 0.5);
    if (trainee.device() != nullptr) trainee.fetch();
    const auto weights = trainee.network().weights();
    return std::vector<float>(weights.begin(), weights.end());
  };
  const auto sent = [](const std::function<void()>& work) {
    const uint64_t before = world()->sent_bytes();
    work();
    return static_cast<double>(world()->sent_bytes() - before);
  };
  for (const std::string kind : {"auto", "ring", "tree", "hierarchical"}) {
    std::vector<float> wide;
    world()->choose_all_reduce(kind == "auto" ? "ring" : kind, hosts, SumType::fp32);
    const double all = sent([&] { wide = train(by_mpi); });
    train(options("mlp", {}, true));
    const uint64_t counted_in_fp32 = counted;
    const uint64_t used_in_fp32 = used;
    for (const bool group : {false, true}) {
      world()->choose_all_reduce(kind, hosts, SumType::bf16);
      std::vector<float> weights;
      const double half = sent([&] { weights = train(group ? options("mlp", {}, true) : by_mpi); });
      const std::string what = kind + (group ? " among devices" : " by MPI");
      const double apart = distance(weights, wide);
      require(apart > 1e-7 && apart < 1e-3, what + ": weights are " + std::to_string(apart) + " apart");
      require_alike(weights, weights, what + ": weights");
      if (!group) require(2 * half == all, what + ": " + std::to_string(half) + " bytes were sent");
      if (!group) continue;
      // Before the first step.
      require(counted - counted_in_fp32 == weights_bytes / 2, what + ": its memory is not counted");
      require(used - used_in_fp32 == weights_bytes / 2, what + ": its memory comes later");
    }
  }
  world()->choose_all_reduce("auto", hosts, SumType::fp32);
}

/// How often the host stands still until its device has done everything: for a step's figures, and
/// nowhere else once the step is recorded.
void waits() {
  HostTraffic traffic;
  TraineeOptions wanted = options("mlp", {}, true);
  wanted.traffic = &traffic;
  Trainee trainee(world(), wanted);
  for (int64_t number = 1; number <= 2; ++number) trainee.step(number);
  require(trainee.network().recorded_graphs() > 0, "the step is not recorded");
  for (int64_t number = 3; number <= 6; ++number) {
    const HostTraffic before = traffic;
    trainee.step(number);
    const int waited = traffic.waits - before.waits;
    require(waited == 1, "a step waited " + std::to_string(waited) + " times for the device");
    const size_t bytes = traffic.to_host - before.to_host;
    require(bytes < 1024, "a step brought " + std::to_string(bytes) + " bytes to the host");
  }
}

/// Sums through the hosts, in the order in which the devices' double adds.
class ThroughHosts final : public StatisticsReducer {
 public:
  void sum(double* values, size_t count) override {
    const std::vector<double> all = test::world()->gather(std::span<const double>(values, count));
    std::fill_n(values, count, 0.0);
    for (size_t i = 0; i < all.size(); ++i) values[i % count] += all[i];
    ++calls;
  }
  int world() const override { return test::world()->world(); }
  int calls = 0;
};

/// Batch norm over all ranks: summed by the devices, in recorded steps, with the bits of sums that
/// pass through the hosts.
void statistics() {
  ThroughHosts reducer;
  HostTraffic traffic;
  const NetworkOptions wanted{
      .model = "resnet20", .classes = 5, .image_size = 8, .batch = 4, .sync_batch_norm = &reducer};
  const auto build = [&] { return build_model(wanted.model, wanted.image_size, wanted.classes); };
  GraphNetwork by_host(wanted, build(), make_host_cuda());
  GraphNetwork by_device(wanted, build(), make_host_cuda_in({new_host_group, join_host_group}, &traffic));
  DeviceOptimizer* device = by_device.train_on_device({}, {{.offset = 0, .size = by_device.weights().size()}}, {});
  device->join(everyones_group(*world(), new_host_group));
  const int ranks = world()->world();
  for (uint64_t step = 1; step <= 4; ++step) {
    const RandomBatch batch(4 * ranks, 8, 5, step);
    const BatchView mine = batch.part(4 * world()->rank(), 4);
    const float scale = 1.0F / static_cast<float>(4 * ranks);
    const double want = by_host.train_step(mine, scale, nullptr, nullptr).loss_sum;
    const int calls = reducer.calls;
    require(calls == static_cast<int>(step) * 38, std::to_string(calls) + " sums of statistics");
    const int before = traffic.waits;
    require(by_device.train_step(mine, scale, nullptr, nullptr).loss_sum == want, "losses differ");
    const int waited = traffic.waits - before;
    require(reducer.calls == calls, "the device's statistics passed through the host");
    // For the figures; before a step that is not recorded yet; and, where ops are launched one by
    // one, for each 32 sums.
    require(waited == (step < 3 ? 4 - static_cast<int>(step) : 1),
            "step " + std::to_string(step) + " waited " + std::to_string(waited));
    device->fetch_gradients();
    device->fetch();
    require(std::ranges::equal(by_device.gradients(), by_host.gradients()), "gradients differ");
    require(std::ranges::equal(by_device.running_statistics(), by_host.running_statistics()), "statistics differ");
    descend(by_host, 0.02F);
    descend(by_device, 0.02F);
  }
  require(by_device.recorded_graphs() == 2 && by_host.recorded_graphs() == 0, "steps were not recorded");
  const std::span<const float> all = by_device.running_statistics();
  require_alike(all, by_host.running_statistics(), "statistics");
}

/// One rank's gradients are infinite; all leave the step out, and all go on.
void scaled() {
  Trainee trainee(world(), options("resnet20", {}, true));
  trainee.gradients(1, 1024);
  require(trainee.device()->unscale(1024), "gradients are finite");
  const bool last = world()->rank() + 1 == world()->world();
  trainee.gradients(2, last ? std::numeric_limits<float>::infinity() : 1024);
  require(!trainee.device()->unscale(1024), "another rank's infinite gradients were not noticed");
  trainee.gradients(3, 1024);
  require(trainee.device()->unscale(1024), "gradients are finite again");
  trainee.apply(1);
}

/// A back end's group of which only rank 0 goes on after `leave`.
void lonely(double deadline, double least, double most, const std::function<void(DeviceCollectives&)>& leave,
            const std::string& said) {
  DeviceGroup group = everyones_group(*world(), new_host_group);
  group.who = "rank of the test";
  group.deadline_s = deadline;
  const auto backend = make_host_cuda();
  const auto collectives = join_host_group(group, {*backend, [](const auto& op) { op(); }});
  std::vector<float> values(10, 1);
  collectives->start_sum(values.data(), values.size());
  collectives->wait();
  require(values[9] == static_cast<float>(group.world), "the sum is wrong");
  std::string error;
  if (group.rank == 0) {
    const Stopwatch clock;
    try {
      collectives->start_sum(values.data(), values.size());
      collectives->wait();
    } catch (const Error& caught) {
      require(caught.code() == Exit::device, "another exit code");
      error = caught.what();
    }
    const double took = clock.milliseconds() / 1000;
    require(took >= least && took < most, "the wait took " + std::to_string(took) + " s");
    require(error.find("rank of the test") != std::string::npos && error.find(said) != std::string::npos, error);
  } else {
    leave(*collectives);
  }
  (void)world()->gather("done");
}

/// A rank that stands still is not waited for beyond the deadline.
void late() {
  lonely(0.3, 0.3, 5, [](DeviceCollectives&) {}, "waited 0 s");
}

/// A rank that an error ends tells the others, long before the deadline.
void leaves() {
  lonely(100, 0, 5, [](DeviceCollectives& collectives) { collectives.abandon(); }, "a rank has left");
}

int run(const std::string& scenario) {
  std::map<std::string, std::function<void()>> scenarios{{"central", central},
                                                         {"figures", figures},
                                                         {"served", [] { served("parameter-server"); }},
                                                         {"served-async", [] { served("parameter-server-async"); }},
                                                         {"micro", micro},
                                                         {"narrow", narrow},
                                                         {"scaled", scaled},
                                                         {"statistics", statistics},
                                                         {"waits", waits},
                                                         {"late", late},
                                                         {"leaves", leaves}};
  for (const char* model : {"mlp", "resnet20"}) {
    for (const char* kind : {"sgd", "lars", "adam", "adamw"}) {
      scenarios[std::string(model) + "-" + kind] = [model, kind] { same(model, kind); };
    }
  }
  try {
    scenarios.at(scenario)();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", world()->rank(), error.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace trainyard::test

int main(int count, char** words) { return trainyard::test::run(count > 1 ? words[1] : ""); }
