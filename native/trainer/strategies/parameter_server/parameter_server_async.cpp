#include "trainer/strategies/parameter_server/parameter_server_async.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "common/stopwatch.h"
#include "trainer/optim/clip.h"
#include "trainer/strategies/parameter_server/server_link.h"

namespace trainyard {
namespace {

using namespace server_messages;

class ParameterServerAsync final : public Strategy {
 public:
  ParameterServerAsync(const Team& team, Communicator& workers, const Variables& variables,
                       const OptimizerOptions& optimizer)
      : team_(team),
        workers_(workers),
        variables_(variables),
        link_(team, variables, optimizer),
        versions_(team.servers().size(), 0) {}

  void distribute() override { link_.distribute(workers_); }
  int workers_an_update() const override { return 1; }
  void ready(size_t /*begin*/) override {}
  void sum(StepSums& /*sums*/) override {}
  double apply(const Update& update, StepSums& sums) override {
    double norm = 0;
    if (update.clip_norm > 0) norm = clip_to_length(variables_.gradients, update.clip_norm);
    if (!std::isfinite(norm)) return norm;
    const Stopwatch clock;
    const std::vector<Reply> replies = exchange(update, sums);
    waited_ms_ += clock.milliseconds();
    ++pushes_;
    for (size_t s = 0; s < replies.size(); ++s) versions_[s] = replies[s].version;
    const Reply& first = replies.front();
    const bool last = first.last_step > 0 && static_cast<double>(update.number) >= first.last_step;
    sums.stop = last && first.finish == 0 ? 1 : 0;
    sums.finish = last && first.finish > 0 ? 1 : 0;
    return norm;
  }
  double take_waited_ms() override { return std::exchange(waited_ms_, 0.0); }
  std::vector<OptimizerState> state() override { return link_.state(); }
  /// Here alone the workers wait for each other, and go on with the same weights: those of the
  /// checkpoint.
  void collect() override {
    double arrived = 1;
    workers_.sum(std::span<double>(&arrived, 1));
    link_.collect();
    workers_.broadcast(variables_.weights, 0);
    std::ranges::fill(versions_, static_cast<double>(pushes_ * workers_.world()));
  }
  Report report(const RankFigures& mine) override {
    mine_ = mine;  // goes with the next push
    Report report;
    if (!link_.leader()) return report;
    report.ranks.resize(team_.hosts().size());
    Figures first;
    report.servers = link_.figures(report.ranks, first);
    link_.pushed_figures(report.ranks);
    report.ranks.front() = mine;
    report.pushed = first.pushed;
    return report;
  }
  void end(bool stopped) override {
    if (link_.leader()) link_.ask_all({.ask = static_cast<double>(Ask::end), .stop = stopped ? 1.0 : 0.0});
  }

 private:
  std::vector<Reply> exchange(const Update& update, const StepSums& sums) {
    const size_t count = link_.servers().size();
    std::vector<RequestNumbers> requests(count);
    std::vector<ReplyNumbers> numbers(count);
    const auto transfers = link_.mailbox().transfers();
    for (size_t s = 0; s < count; ++s) {
      requests[s] = std::bit_cast<RequestNumbers>(Request{.ask = static_cast<double>(Ask::push),
                                                          .number = static_cast<double>(update.number),
                                                          .lr = update.lr,
                                                          .version = versions_[s],
                                                          .images = sums.images,
                                                          .loss = sums.loss,
                                                          .top1 = sums.top1,
                                                          .stop = sums.stop,
                                                          .finish = sums.finish,
                                                          .figures = mine_});
      transfers->send(link_.servers()[s], kRequest, std::span<const double>(requests[s]));
      transfers->receive(link_.servers()[s], kReply, std::span<double>(numbers[s]));
    }
    link_.send_gradients(*transfers);
    link_.receive_weights(*transfers);
    transfers->wait();
    link_.unpack_weights();
    std::vector<Reply> replies;
    for (const ReplyNumbers& one : numbers) replies.push_back(std::bit_cast<Reply>(one));
    return replies;
  }

  const Team& team_;
  Communicator& workers_;
  Variables variables_;
  ServerLink link_;
  int64_t pushes_ = 0;            ///< of this worker; after the same step everyone's
  std::vector<double> versions_;  ///< of each server's weights, as they were pulled
  RankFigures mine_;
  double waited_ms_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_parameter_server_async(const Team& team, Communicator& workers,
                                                      const Variables& variables, const OptimizerOptions& optimizer) {
  return std::make_unique<ParameterServerAsync>(team, workers, variables, optimizer);
}

}  // namespace trainyard
