// Where the nodes of a run join: listens, and lets in who proves that it holds the run's key.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "agent/wire.h"

namespace trainyard {

class JoinPort {
 public:
  /// Listens on `address`, on a port from `first` to `last`. Throws Error.
  JoinPort(const std::string& address, int first, int last, std::string key);

  int port() const;
  /// Takes new connections and goes on with their handshakes; those now authenticated. Others are closed after a few
  /// seconds, or at once when too many wait.
  std::vector<std::unique_ptr<Wire>> step();

 private:
  Descriptor socket_;
  std::string key_;
  std::vector<std::unique_ptr<Wire>> waiting_;
};

}  // namespace trainyard
