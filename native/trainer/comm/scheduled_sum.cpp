#include "trainer/comm/scheduled_sum.h"

#include <utility>

namespace trainyard {

ScheduledSum::ScheduledSum(Mailbox& mailbox, std::span<float> values, std::vector<Round> rounds, int tag)
    : values_(values), rounds_(std::move(rounds)), tag_(tag), transfers_(mailbox.transfers()) {
  start_round();
}

void ScheduledSum::start_round() {
  if (round_ == rounds_.size()) return;
  const Round& round = rounds_[round_];
  if (round.receive.peer != MessagePart::kNobody) {
    const size_t size = round.receive.end - round.receive.begin;
    if (round.add) received_.resize(size);
    transfers_->receive(round.receive.peer, tag_,
                        round.add ? std::span<float>(received_) : values_.subspan(round.receive.begin, size));
  }
  if (round.send.peer != MessagePart::kNobody) {
    const std::span<const float> part = values_.subspan(round.send.begin, round.send.end - round.send.begin);
    transfers_->send(round.send.peer, tag_, part);
  }
}

void ScheduledSum::end_round() {
  const Round& round = rounds_[round_];
  if (round.add && round.receive.peer != MessagePart::kNobody) {
    float* sum = values_.data() + round.receive.begin;
    for (size_t i = 0; i < received_.size(); ++i) sum[i] += received_[i];
  }
  ++round_;
  start_round();
}

bool ScheduledSum::advance() {
  while (round_ < rounds_.size()) {
    if (!transfers_->done()) return false;
    end_round();
  }
  return true;
}

void ScheduledSum::wait() {
  while (round_ < rounds_.size()) {
    transfers_->wait();
    end_round();
  }
}

}  // namespace trainyard
