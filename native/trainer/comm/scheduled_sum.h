// One sum, or copy, under way by a schedule of messages.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trainer/comm/mailbox.h"
#include "trainer/comm/schedule.h"
#include "trainer/comm/sum_type.h"

namespace trainyard {

class ScheduledSum {
 public:
  /// values belong to it until advance() says true or wait() returns. tag: the same on every rank,
  /// and of no other sum under way. The order of additions is the schedule's, whatever arrives
  /// first. type: of what travels. What is sent as bf16 is rounded where it lies too, so that whoever
  /// keeps it has the bits of those who get it.
  ScheduledSum(Mailbox& mailbox, std::span<float> values, std::vector<Round> rounds, int tag, SumType type);
  /// Goes on as far as messages have arrived; whether it is done.
  bool advance();
  void wait();

 private:
  void start_round();
  void receive(const Round& round);
  void send(const MessagePart& part);
  void end_round();

  std::span<float> values_;
  std::vector<Round> rounds_;
  int tag_;
  SumType type_;
  std::unique_ptr<Transfers> transfers_;
  std::vector<float> received_;  ///< of a round that adds
  std::vector<uint16_t> narrow_sent_, narrow_received_;
  size_t round_ = 0;
};

}  // namespace trainyard
