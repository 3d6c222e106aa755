// What strategies have in common whose workers take every step together, without servers.
#pragma once
#include "trainer/strategies/buckets.h"
#include "trainer/strategies/strategy.h"

namespace trainyard {

class Lockstep : public Strategy {
 public:
  int workers_an_update() const override { return workers_.world(); }
  void ready(size_t begin) override;
  void sum(StepSums& sums) override;
  double take_waited_ms() override;
  Report report(const RankFigures& mine) override;
  void end(bool /*stopped*/) override {}

 protected:
  /// start: how a bucket of gradients sets off to where it is summed.
  Lockstep(Communicator& workers, const Variables& variables, Buckets::Start start);
  Communicator& workers() { return workers_; }
  const Variables& variables() const { return variables_; }
  void waited(double milliseconds) { waited_ms_ += milliseconds; }

 private:
  Communicator& workers_;
  Variables variables_;
  Buckets buckets_;
  double waited_ms_ = 0;
};

}  // namespace trainyard
