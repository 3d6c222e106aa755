#include "trainer/comm/scheduled_sum.h"

#include <utility>

#include "trainer/tensor/dtype.h"

namespace trainyard {

namespace {

void round_to_bf16(std::span<float> values, std::vector<uint16_t>& narrow) {
  narrow.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const BFloat16 rounded(values[i]);
    narrow[i] = rounded.bits;
    values[i] = static_cast<float>(rounded);
  }
}

/// Added to `to`, or in its place.
void take_bf16(std::span<const uint16_t> narrow, bool add, float* to) {
  if (add) {
    for (size_t i = 0; i < narrow.size(); ++i) to[i] += float_of_bits(uint32_t{narrow[i]} << 16U);
  } else {
    for (size_t i = 0; i < narrow.size(); ++i) to[i] = float_of_bits(uint32_t{narrow[i]} << 16U);
  }
}

}  // namespace

ScheduledSum::ScheduledSum(Mailbox& mailbox, std::span<float> values, std::vector<Round> rounds, int tag, SumType type)
    : values_(values), rounds_(std::move(rounds)), tag_(tag), type_(type), transfers_(mailbox.transfers()) {
  start_round();
}

void ScheduledSum::start_round() {
  if (round_ == rounds_.size()) return;
  const Round& round = rounds_[round_];
  if (round.receive.peer != MessagePart::kNobody) receive(round);
  if (round.send.peer != MessagePart::kNobody) send(round.send);
}

void ScheduledSum::receive(const Round& round) {
  const size_t size = round.receive.end - round.receive.begin;
  if (type_ == SumType::bf16) {
    narrow_received_.resize(size);
    transfers_->receive(round.receive.peer, tag_, std::span<uint16_t>(narrow_received_));
    return;
  }
  if (round.add) received_.resize(size);
  transfers_->receive(round.receive.peer, tag_,
                      round.add ? std::span<float>(received_) : values_.subspan(round.receive.begin, size));
}

void ScheduledSum::send(const MessagePart& part) {
  const std::span<float> values = values_.subspan(part.begin, part.end - part.begin);
  if (type_ == SumType::bf16) {
    round_to_bf16(values, narrow_sent_);
    transfers_->send(part.peer, tag_, std::span<const uint16_t>(narrow_sent_));
  } else {
    transfers_->send(part.peer, tag_, std::span<const float>(values));
  }
}

void ScheduledSum::end_round() {
  const Round& round = rounds_[round_];
  if (round.receive.peer != MessagePart::kNobody) {
    float* to = values_.data() + round.receive.begin;
    if (type_ == SumType::bf16) {
      take_bf16(narrow_received_, round.add, to);
    } else if (round.add) {
      for (size_t i = 0; i < received_.size(); ++i) to[i] += received_[i];
    }
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
