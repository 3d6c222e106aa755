// TCP between the nodes of a run: IPv4, never blocking.
#pragma once
#include <netinet/in.h>

#include <cstdint>
#include <optional>
#include <string>

#include "common/error.h"
#include "common/files.h"

namespace trainyard {

/// Of a name or a dotted address; may ask the resolver.
std::optional<in_addr> resolve(const std::string& address);

/// As resolve, for an address of this machine itself: a name that /etc/hosts gives a loopback
/// address counts as unknown, since other machines know it by another.
std::optional<in_addr> resolve_own(const std::string& address);

/// A listening socket on a free port from `first` to `last` (0 and 0: any), on `address` where this
/// machine holds it, else on all. Throws Error.
Descriptor listen_on(const std::string& address, int first, int last);
/// Dotted, of a socket that listens: where this machine itself reaches it.
std::string own_address_of(const Descriptor& socket);
int port_of(const Descriptor& socket);
/// Dotted, of what a socket is connected to; empty where the connection is lost already.
std::string peer_address_of(const Descriptor& socket);

/// The other machine is there, and nobody listens at that port.
class ConnectionRefused : public Error {
 public:
  explicit ConnectionRefused(const std::string& message) : Error(Exit::data, message) {}
};

/// This machine cannot resolve the name.
class AddressUnknown : public Error {
 public:
  explicit AddressUnknown(const std::string& message) : Error(Exit::usage, message) {}
};

/// Begins to connect; the socket becomes writable when that is done or has failed. Throws
/// AddressUnknown, ConnectionRefused or Error.
Descriptor begin_to_connect(const std::string& address, int port);

/// 0 while a connection that was begun is well, else errno.
int socket_error(const Descriptor& socket);

}  // namespace trainyard
