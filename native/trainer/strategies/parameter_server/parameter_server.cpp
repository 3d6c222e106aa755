#include "trainer/strategies/parameter_server/parameter_server.h"

#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "common/stopwatch.h"
#include "trainer/strategies/parameter_server/server_link.h"

namespace trainyard {
namespace {

using namespace server_messages;

class ParameterServer final : public Strategy {
 public:
  ParameterServer(const Team& team, Communicator& workers, const Variables& variables,
                  const OptimizerOptions& optimizer)
      : team_(team), workers_(workers), link_(team, variables, optimizer) {}

  void distribute() override { link_.distribute(workers_); }
  int workers_an_update() const override { return workers_.world(); }
  void ready(size_t /*begin*/) override {}
  void sum(StepSums& sums) override {
    std::array<double, 5> values = {sums.images, sums.loss, sums.top1, sums.stop, sums.finish};
    const Stopwatch clock;
    workers_.sum(values);
    waited_ms_ += clock.milliseconds();
    sums = {.images = values[0], .loss = values[1], .top1 = values[2], .stop = values[3], .finish = values[4]};
  }
  double apply(const Update& update, StepSums& /*sums*/) override {
    const Stopwatch clock;
    if (link_.leader()) {
      link_.ask_all({.ask = static_cast<double>(Ask::step),
                     .number = static_cast<double>(update.number),
                     .lr = update.lr,
                     .clip_norm = update.clip_norm});
    }
    const auto transfers = link_.mailbox().transfers();
    link_.send_gradients(*transfers);
    double norm = 0;
    if (update.clip_norm > 0) {
      transfers->receive(link_.servers().front(), kNorm, std::span<double>(&norm, 1));
      transfers->wait();
    }
    if (!std::isfinite(norm)) return norm;
    link_.receive_weights(*transfers);
    transfers->wait();
    link_.unpack_weights();
    waited_ms_ += clock.milliseconds();
    return norm;
  }
  double take_waited_ms() override { return std::exchange(waited_ms_, 0.0); }
  std::vector<OptimizerState> state() override { return link_.state(); }
  void collect() override { link_.collect(); }
  Report report(const RankFigures& mine) override {
    const auto values = std::bit_cast<RankNumbers>(mine);
    const std::vector<RankFigures> figures = rank_figures(workers_.gather(std::span<const double>(values)));
    Report report;
    if (!link_.leader()) return report;
    report.ranks.resize(team_.hosts().size());
    Figures first;
    report.servers = link_.figures(report.ranks, first);
    link_.pushed_figures(report.ranks);
    const std::vector<int> workers = team_.workers();
    for (size_t w = 0; w < workers.size(); ++w) report.ranks[static_cast<size_t>(workers[w])] = figures[w];
    return report;
  }
  void end(bool stopped) override {
    if (link_.leader()) link_.ask_all({.ask = static_cast<double>(Ask::end), .stop = stopped ? 1.0 : 0.0});
  }

 private:
  const Team& team_;
  Communicator& workers_;
  ServerLink link_;
  double waited_ms_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_parameter_server(const Team& team, Communicator& workers, const Variables& variables,
                                                const OptimizerOptions& optimizer) {
  return std::make_unique<ParameterServer>(team, workers, variables, optimizer);
}

}  // namespace trainyard
