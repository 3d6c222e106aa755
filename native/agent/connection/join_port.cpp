#include "agent/connection/join_port.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

#include "agent/connection/addresses.h"
#include "agent/system/clock.h"

namespace trainyard {

namespace {

// docs/contracts/cluster.md, Strangers at a port. A connection has 150 ms at least before newer
// ones of its address put it out, which is enough for a node that holds the key.
constexpr size_t kMostWaiting = 256;
constexpr size_t kMostOfOneAddress = 64;
constexpr int kMostAccepted = 16;  // in the time that follows
constexpr double kAcceptSeconds = 0.05;
constexpr double kHandshakeSeconds = 5;

}  // namespace

JoinPort::JoinPort(const std::string& address, int first, int last, std::string key)
    : socket_(listen_on(address, first, last)), key_(std::move(key)) {}

int JoinPort::port() const { return port_of(socket_); }

std::string JoinPort::own_address() const { return own_address_of(socket_); }

bool JoinPort::accept_one() {
  sockaddr_in from{};
  socklen_t length = sizeof from;
  Descriptor accepted(
      ::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&from), &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!accepted) return false;
  const int yes = 1;
  ::setsockopt(accepted.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const uint32_t address = from.sin_addr.s_addr;
  const auto is_of_address = [&](const Waiting& one) { return one.address == address; };
  if (std::ranges::count_if(waiting_, is_of_address) >= static_cast<long>(kMostOfOneAddress)) {
    waiting_.erase(std::ranges::find_if(waiting_, is_of_address));
  } else if (waiting_.size() >= kMostWaiting) {
    waiting_.erase(waiting_.begin());
  }
  waiting_.push_back({address, std::make_unique<Wire>(std::move(accepted), Wire::Side::head, key_)});
  return true;
}

std::vector<std::unique_ptr<Wire>> JoinPort::step() {
  const double now = monotonic_seconds();
  if (now >= next_accept_) {
    next_accept_ = now + kAcceptSeconds;
    for (int count = 0; count < kMostAccepted && accept_one(); ++count) {
    }
  }
  std::vector<std::unique_ptr<Wire>> admitted;
  std::erase_if(waiting_, [&](Waiting& one) {
    const bool well = one.wire->pump();
    if (well && one.wire->authenticated()) {
      admitted.push_back(std::move(one.wire));
      return true;
    }
    return !well || now - one.wire->opened() > kHandshakeSeconds;
  });
  return admitted;
}

}  // namespace trainyard
