#include "tests/agent/support/relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "agent/connection/addresses.h"

namespace trainyard::test {

namespace {

constexpr int kTickMs = 20;

void make_blocking(const Descriptor& socket) {
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
}

/// False at the end of either side.
bool pass_some(const Descriptor& from, const Descriptor& to) {
  std::array<char, 16384> bytes;
  const ssize_t got = ::read(from.get(), bytes.data(), bytes.size());
  return got > 0 && ::send(to.get(), bytes.data(), static_cast<size_t>(got), MSG_NOSIGNAL) == got;
}

}  // namespace

Relay::Relay(int target) : target_(target), listening_(listen_on("127.0.0.1", 0, 0)), thread_([this] { run(); }) {}

Relay::~Relay() {
  over_ = true;
  thread_.join();
}

int Relay::port() const { return port_of(listening_); }

int Relay::cut() {
  if (!connected_) return 0;
  cut_ = true;
  return 1;
}

void Relay::run() {
  while (!over_) {
    pollfd waiting{listening_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, kTickMs) != 1) continue;
    const Descriptor node(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const Descriptor head = begin_to_connect("127.0.0.2", target_);
    pollfd connecting{head.get(), POLLOUT, 0};
    ::poll(&connecting, 1, 1000);
    make_blocking(head);
    connected_ = true;
    pass(node, head);
    connected_ = false;
  }
}

void Relay::pass(const Descriptor& node, const Descriptor& head) {
  cut_ = false;
  while (!over_ && !cut_) {
    std::array<pollfd, 2> ends{{{node.get(), POLLIN, 0}, {head.get(), POLLIN, 0}}};
    ::poll(ends.data(), ends.size(), kTickMs);
    if (ends[0].revents != 0 && !pass_some(node, head)) return;
    if (ends[1].revents != 0 && !pass_some(head, node)) return;
  }
}

}  // namespace trainyard::test
