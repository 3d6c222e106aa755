#include "agent/join/join_head.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "agent/connection/addresses.h"
#include "agent/system/clock.h"
#include "common/error.h"

namespace trainyard {

namespace {

constexpr double kHandshakeSeconds = 10;
constexpr double kLongestPatience = 5;  // between two tries
constexpr int kTickMs = 50;
constexpr double kFinishSeconds = 2;
/// For so long after a loss the head is looked for where it was. A resolver that is lost with the
/// network may wait longer than ranks may live without their head, and nothing else is done
/// meanwhile.
constexpr double kSameAddressSeconds = 30;

}  // namespace

HeadConnection::HeadConnection(const JoinSpec& spec, double silent)
    : spec_(spec), silent_(silent), lost_since_(monotonic_seconds()) {}

void HeadConnection::begin() {
  deadline_ = monotonic_seconds() + kHandshakeSeconds;
  try {
    const bool is_known = !at_.empty() && monotonic_seconds() - lost_since_ < kSameAddressSeconds;
    connecting_ = begin_to_connect(is_known ? at_ : spec_.address, spec_.port);
    unknown_since_ = 0;
  } catch (const AddressUnknown& unknown) {
    if (unknown_since_ == 0) unknown_since_ = monotonic_seconds();
    drop(unknown.what());
  } catch (const ConnectionRefused& refused) {
    drop(refused.what(), true);
  } catch (const Error& error) {
    drop(error.what());
  }
}

double HeadConnection::gone_for() const { return gone_since_ == 0 ? 0 : monotonic_seconds() - gone_since_; }

double HeadConnection::unknown_for() const { return unknown_since_ == 0 ? 0 : monotonic_seconds() - unknown_since_; }

void HeadConnection::drop(const std::string& why, bool is_gone) {
  const double now = monotonic_seconds();
  if (!is_gone) gone_since_ = 0;
  if (is_gone && gone_since_ == 0) gone_since_ = now;
  if (was_authenticated_ || lost_since_ == 0) {
    lost_since_ = wire_ ? wire_->heard() : now;  // of a silent head, since its last word
    patience_ = 0.2;
  }
  was_authenticated_ = false;
  why_ = why;
  wire_.reset();
  connecting_ = Descriptor();
  next_try_ = now + patience_;
  patience_ = std::min(kLongestPatience, patience_ * 2);
}

bool HeadConnection::step() {
  const double now = monotonic_seconds();
  if (!wire_ && !connecting_) {
    if (now < next_try_) return false;
    begin();
  }
  if (connecting_) {
    pollfd end{connecting_.get(), POLLOUT, 0};
    if (::poll(&end, 1, 0) == 1) {
      const int failed = socket_error(connecting_);
      if (failed != 0) {
        drop(spec_.address + " port " + std::to_string(spec_.port) + ": " + std::strerror(failed),
             failed == ECONNREFUSED);
        return false;
      }
      peer_ = peer_address_of(connecting_);
      wire_ = std::make_unique<Wire>(std::move(connecting_), Wire::Side::node, spec_.key, spec_.host);
    }
  }
  if (!wire_) {
    if (connecting_ && now > deadline_) drop(spec_.address + " does not answer");
    return false;
  }
  if (!wire_->pump()) {
    drop(wire_->is_stranger() ? spec_.address + " port " + std::to_string(spec_.port) + ": " + wire_->why()
                              : wire_->why(),
         wire_->is_stranger());
  } else if (!wire_->authenticated() && now > deadline_) {
    drop("the head does not greet");
  } else if (wire_->authenticated() && now - wire_->heard() > silent_) {
    drop("the head is silent");
  } else if (wire_->authenticated() && !was_authenticated_) {
    was_authenticated_ = true;
    at_ = peer_;
    lost_since_ = 0;
    patience_ = 0.2;
    return true;
  }
  return false;
}

void HeadConnection::finish() {
  const double deadline = monotonic_seconds() + kFinishSeconds;
  while (wire() != nullptr && monotonic_seconds() < deadline) {
    if (wire_->waiting() == 0) wire_->end_sending();
    wait();
    step();
  }
}

std::optional<Json> HeadConnection::next() { return wire() != nullptr ? wire_->next() : std::nullopt; }

void HeadConnection::wait(int other, short other_events) const {
  const int fd = wire_ ? wire_->fd() : connecting_.get();
  short events = POLLIN;
  if (!wire_ || wire_->waiting() > 0) events |= POLLOUT;
  std::array<pollfd, 2> ends{{{fd, events, 0}, {other_events == 0 ? -1 : other, other_events, 0}}};
  ::poll(ends.data(), ends.size(), kTickMs);  // it leaves out what is -1
}

}  // namespace trainyard
