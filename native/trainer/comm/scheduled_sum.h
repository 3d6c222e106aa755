// One sum, or copy, under way by a schedule of messages.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "trainer/comm/mailbox.h"
#include "trainer/comm/schedule.h"

namespace trainyard {

class ScheduledSum {
 public:
  /// values belong to it until advance() says true or wait() returns. tag: the same on every rank,
  /// and of no other sum under way. The order of additions is the schedule's, whatever arrives
  /// first.
  ScheduledSum(Mailbox& mailbox, std::span<float> values, std::vector<Round> rounds, int tag);
  /// Goes on as far as messages have arrived; whether it is done.
  bool advance();
  void wait();

 private:
  void start_round();
  void end_round();

  std::span<float> values_;
  std::vector<Round> rounds_;
  int tag_;
  std::unique_ptr<Transfers> transfers_;
  std::vector<float> received_;  ///< of a round that adds
  size_t round_ = 0;
};

}  // namespace trainyard
