#include "agent/connection/addresses.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "common/error.h"

namespace trainyard {

namespace {

constexpr int kBacklog = 512;
constexpr int kSocketBytes = 128 << 10;  // what may wait in the kernel: heartbeats go behind it

sockaddr_in socket_address(in_addr address, int port) {
  sockaddr_in full{};
  full.sin_family = AF_INET;
  full.sin_addr = address;
  full.sin_port = htons(static_cast<uint16_t>(port));
  return full;
}

bool bind_to(const Descriptor& socket, in_addr address, int port) {
  const sockaddr_in full = socket_address(address, port);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&full), sizeof full) == 0 &&
         ::listen(socket.get(), kBacklog) == 0;
}

/// Zeros where that is not known.
sockaddr_in bound_to(const Descriptor& socket) {
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  const bool known = ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size) == 0;
  return known ? bound : sockaddr_in{};
}

Descriptor make_socket() {
  Descriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made) throw file_error("make", "a socket");
  const int yes = 1;
  ::setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(made.get(), SOL_SOCKET, SO_SNDBUF, &kSocketBytes, sizeof kSocketBytes);
  return made;
}

}  // namespace

std::optional<in_addr> resolve(const std::string& address) {
  in_addr found{};
  if (::inet_pton(AF_INET, address.c_str(), &found) == 1) return found;
  addrinfo wanted{}, *list = nullptr;
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(address.c_str(), nullptr, &wanted, &list) != 0) return std::nullopt;
  found = reinterpret_cast<const sockaddr_in*>(list->ai_addr)->sin_addr;
  ::freeaddrinfo(list);
  return found;
}

std::optional<in_addr> resolve_own(const std::string& address) {
  in_addr dotted{};
  const auto found = resolve(address);
  const bool loopback = found && (ntohl(found->s_addr) >> 24) == 127;
  return loopback && ::inet_pton(AF_INET, address.c_str(), &dotted) != 1 ? std::nullopt : found;
}

Descriptor listen_on(const std::string& address, int first, int last) {
  const auto own = resolve_own(address);
  // From the end of the range: MPI takes its ports from the beginning.
  for (int port = last; port >= first; --port) {
    Descriptor socket = make_socket();
    const int yes = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    bool bound = own && bind_to(socket, *own, port);
    if (!bound && (!own || errno == EADDRNOTAVAIL)) bound = bind_to(socket, {htonl(INADDR_ANY)}, port);
    if (bound) return socket;
    if (port == 0) break;
  }
  throw Error(Exit::usage, "no port of " + std::to_string(first) + "-" + std::to_string(last) +
                               " is free on this node for the others to join at. Give the profile another portRange");
}

std::string own_address_of(const Descriptor& socket) {
  const in_addr own = bound_to(socket).sin_addr;
  std::array<char, INET_ADDRSTRLEN> text{};
  if (own.s_addr == htonl(INADDR_ANY)) return "127.0.0.1";
  return ::inet_ntop(AF_INET, &own, text.data(), text.size());
}

std::string peer_address_of(const Descriptor& socket) {
  sockaddr_in peer{};
  socklen_t size = sizeof peer;
  std::array<char, INET_ADDRSTRLEN> text{};
  if (::getpeername(socket.get(), reinterpret_cast<sockaddr*>(&peer), &size) != 0) return "";
  return ::inet_ntop(AF_INET, &peer.sin_addr, text.data(), text.size());
}

int port_of(const Descriptor& socket) { return ntohs(bound_to(socket).sin_port); }

Descriptor begin_to_connect(const std::string& address, int port) {
  const auto target = resolve(address);
  if (!target) throw AddressUnknown("the head's address " + address + " is not known there");
  Descriptor socket = make_socket();
  const sockaddr_in full = socket_address(*target, port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&full), sizeof full) != 0 && errno != EINPROGRESS) {
    const bool refused = errno == ECONNREFUSED;
    const Error error = file_error("reach", address + " port " + std::to_string(port));
    if (refused) throw ConnectionRefused(error.what());
    throw error;
  }
  return socket;
}

int socket_error(const Descriptor& socket) {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace trainyard
