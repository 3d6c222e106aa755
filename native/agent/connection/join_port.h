// Where the nodes of a run join: listens, and lets in who proves that it holds the run's key.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/connection/wire.h"

namespace trainyard {

class JoinPort {
 public:
  /// Listens on `address`, on a port from `first` to `last`. Throws Error.
  JoinPort(const std::string& address, int first, int last, std::string key);

  int port() const;
  /// Where the head's own part joins: no name that somebody has to resolve, and no way out and
  /// back.
  std::string own_address() const;
  /// Takes new connections and goes on with their handshakes; those now authenticated. Others are
  /// closed after a few seconds; where too many wait, the oldest ones at once.
  std::vector<std::unique_ptr<Wire>> step();

 private:
  struct Waiting {
    uint32_t address;
    std::unique_ptr<Wire> wire;
  };
  bool accept_one();

  Descriptor socket_;
  std::string key_;
  double next_accept_ = 0;        ///< monotonic seconds
  std::vector<Waiting> waiting_;  ///< have not proved anything; the oldest first
};

}  // namespace trainyard
