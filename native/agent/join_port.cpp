#include "agent/join_port.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "agent/addresses.h"
#include "agent/kill.h"

namespace trainyard {

namespace {

constexpr size_t kMostWaiting = 64;  // unauthenticated connections; each is bounded in bytes and time
constexpr double kHandshakeSeconds = 5;

}  // namespace

JoinPort::JoinPort(const std::string& address, int first, int last, std::string key)
    : socket_(listen_on(address, first, last)), key_(std::move(key)) {}

int JoinPort::port() const { return port_of(socket_); }

std::vector<std::unique_ptr<Wire>> JoinPort::step() {
  while (waiting_.size() < kMostWaiting) {
    Descriptor accepted(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!accepted) break;
    const int yes = 1;
    ::setsockopt(accepted.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    waiting_.push_back(std::make_unique<Wire>(std::move(accepted), Wire::Side::head, key_));
  }
  std::vector<std::unique_ptr<Wire>> admitted;
  const double now = monotonic_seconds();
  std::erase_if(waiting_, [&](std::unique_ptr<Wire>& wire) {
    const bool well = wire->pump();
    if (well && wire->authenticated()) {
      admitted.push_back(std::move(wire));
      return true;
    }
    return !well || now - wire->opened() > kHandshakeSeconds;
  });
  return admitted;
}

}  // namespace trainyard
