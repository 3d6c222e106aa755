#include "trainer/strategies/parameter_server/server.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <thread>

#include "common/stopwatch.h"
#include "trainer/optim/clip.h"
#include "trainer/optim/norm.h"
#include "trainer/strategies/parameter_server/server_messages.h"

namespace trainyard {
namespace {

using namespace server_messages;

constexpr int kLeader = 0;

class Server {
 public:
  Server(const Team& team, const ServerOptions& options)
      : team_(team), options_(options), mailbox_(team.world().mailbox()), workers_(team.workers()) {
    figures_.rank = team.world().rank();
    pushed_by_.resize(team.hosts().size());
  }

  bool serve() {
    set_up();
    const Stopwatch since;
    for (;;) {
      RequestNumbers numbers{};
      const Stopwatch idle;
      const int from = mailbox_.receive_any(kRequest, numbers);
      idle_ += idle.seconds();
      const auto request = std::bit_cast<Request>(numbers);
      switch (static_cast<Ask>(static_cast<int>(request.ask))) {
        case Ask::step:
          step(request);
          break;
        case Ask::push:
          push(request, from);
          break;
        case Ask::collect:
          collect();
          break;
        case Ask::report:
          report(since.seconds());
          break;
        case Ask::end:
          return request.stop > 0;
      }
      newest_step_ = std::max(newest_step_, request.number);
      options_.alive(static_cast<int64_t>(newest_step_));
    }
  }

 private:
  /// The first of the servers also speaks for all of them.
  bool first() const { return team_.servers().front() == team_.world().rank(); }

  template <typename T>
  void receive(int from, Tag tag, std::span<T> values) {
    const auto transfers = mailbox_.transfers();
    transfers->receive(from, tag, values);
    transfers->wait();
  }
  template <typename T>
  void send(int to, Tag tag, std::span<const T> values) {
    const auto transfers = mailbox_.transfers();
    transfers->send(to, tag, values);
    transfers->wait();
  }

  /// Which variables are this server's, their values, and what the optimizer remembers of them.
  void set_up() {
    // The workers may walk over their data for long before.
    while (!mailbox_.arrived(kLeader, kSetup)) {
      options_.alive(0);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    double count = 0;
    receive(kLeader, kSetup, std::span<double>(&count, 1));
    std::vector<double> table(3 * static_cast<size_t>(count));
    receive(kLeader, kSetup, std::span<double>(table));
    std::vector<ParameterRange> ranges;
    size_t size = 0;
    for (size_t i = 0; i < table.size(); i += 3) {
      ranges.push_back({.offset = static_cast<size_t>(table[i]),
                        .size = static_cast<size_t>(table[i + 1]),
                        .adapt = table[i + 2] > 0});
      size += ranges.back().size;
    }
    figures_.parameters = static_cast<double>(size);
    weights_.resize(size);
    sum_.resize(size);
    optimizer_ = make_optimizer(options_.optimizer, std::move(ranges), size);
    while (!mailbox_.arrived(kLeader, kVariables)) {
      options_.alive(0);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    receive(kLeader, kVariables, std::span<float>(weights_));
    for (const OptimizerState& state : optimizer_->state()) receive(kLeader, kVariables, state.values);
  }

  /// All workers' gradients, added in the order of their ranks; the next one arrives while one is
  /// added.
  void add_gradients() {
    receive(workers_.front(), kGradient, std::span<float>(sum_));
    const auto next = mailbox_.transfers();
    for (size_t w = 1; w <= workers_.size(); ++w) {
      next->wait();
      std::swap(arriving_, arrived_);
      arriving_.resize(sum_.size());
      if (w < workers_.size()) next->receive(workers_[w], kGradient, std::span<float>(arriving_));
      if (w > 1) add(arrived_);
    }
  }
  void add(const std::vector<float>& gradient) {
    for (size_t i = 0; i < sum_.size(); ++i) sum_[i] += gradient[i];
  }

  void step(const Request& request) {
    add_gradients();
    if (request.clip_norm > 0) {
      double squares = squared_length(sum_);
      team_.peers().sum(std::span<double>(&squares, 1));
      const double norm = std::sqrt(squares);
      if (first()) {
        for (const int worker : workers_) send(worker, kNorm, std::span<const double>(&norm, 1));
      }
      if (!std::isfinite(norm)) return;  // the workers end the run
      cut_to_length(sum_, norm, request.clip_norm);
    }
    update(request, static_cast<int64_t>(request.number));
    const auto transfers = mailbox_.transfers();
    for (const int worker : workers_) transfers->send(worker, kWeights, std::span<const float>(weights_));
    transfers->wait();
  }

  void update(const Request& request, int64_t number) {
    optimizer_->step(weights_, sum_, static_cast<float>(request.lr), number);
    ++figures_.updates;
  }

  void push(const Request& request, int from) {
    receive(from, kGradient, std::span<float>(sum_));
    const double staleness = figures_.updates - request.version;
    figures_.staleness += staleness;
    figures_.staleness_max = std::max(figures_.staleness_max, staleness);
    if (figures_.updates == 0) before_ = (request.number - 1) * static_cast<double>(workers_.size());
    update(request, static_cast<int64_t>(before_ + figures_.updates) + 1);
    if (first()) note(request, from);
    const Reply reply{.version = figures_.updates, .last_step = last_step_, .finish = finish_};
    const auto numbers = std::bit_cast<ReplyNumbers>(reply);
    const auto transfers = mailbox_.transfers();
    transfers->send(from, kReply, std::span<const double>(numbers));
    transfers->send(from, kWeights, std::span<const float>(weights_));
    transfers->wait();
  }

  /// What the first server learns from pushes: figures, and wishes. Every worker has one more push
  /// before it can have passed the step after the newest one, so they all hear in time that it is
  /// the last.
  void note(const Request& request, int from) {
    pushed_.images += request.images;
    pushed_.loss += request.loss;
    pushed_.top1 += request.top1;
    pushed_by_[static_cast<size_t>(from)] = request.figures;
    newest_step_ = std::max(newest_step_, request.number);
    if (last_step_ > 0 || request.stop + request.finish == 0) return;
    last_step_ = newest_step_ + 1;
    finish_ = request.stop > 0 ? 0 : 1;
  }

  void collect() {
    send(kLeader, kVariables, std::span<const float>(weights_));
    for (const OptimizerState& state : optimizer_->state()) {
      send(kLeader, kVariables, std::span<const float>(state.values));
    }
  }

  void report(double seconds) {
    figures_.seconds = seconds;
    figures_.busy = seconds - idle_;
    const Figures figures{.server = figures_, .memory = options_.memory(), .pushed = pushed_};
    const auto numbers = std::bit_cast<FigureNumbers>(figures);
    send(kLeader, kFigures, std::span<const double>(numbers));
    if (!first()) return;
    std::vector<double> all;
    for (const RankFigures& one : pushed_by_) {
      const auto rank = std::bit_cast<RankNumbers>(one);
      all.insert(all.end(), rank.begin(), rank.end());
    }
    send(kLeader, kRankFigures, std::span<const double>(all));
    pushed_ = {};
  }

  const Team& team_;
  const ServerOptions& options_;
  Mailbox& mailbox_;
  std::vector<int> workers_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<float> weights_;
  std::vector<float> sum_;       ///< of gradients
  std::vector<float> arriving_;  ///< the next worker's
  std::vector<float> arrived_;   ///< the one being added
  ServerFigures figures_;
  PushedFigures pushed_;  ///< since the last report
  std::vector<RankFigures> pushed_by_;
  double idle_ = 0;    ///< seconds
  double before_ = 0;  ///< updates before a resumed run went on
  double newest_step_ = 0;
  double last_step_ = 0;
  double finish_ = 0;
};

}  // namespace

bool serve_variables(const Team& team, const ServerOptions& options) { return Server(team, options).serve(); }

}  // namespace trainyard
