// The supervisor's way to hand connections to mpiexec, whose control port is no port
// (mpiexec_control.c).
#pragma once
#include "agent/system/spawn.h"
#include "common/files.h"

namespace trainyard {

class ControlChannel {
 public:
  /// Throws Error when the library is not beside this program.
  ControlChannel();

  /// Makes `mpiexec` load the library and inherit the other end of this channel.
  void add_to(Command& mpiexec) const;
  /// To be called once mpiexec was started: waits until the library says that it was loaded, 10 s
  /// at most. Otherwise kills mpiexec, which would listen on all interfaces, and throws Error.
  void await_loaded(const ProcessId& mpiexec);
  /// A new connection of mpiexec, which does not block. Throws Error.
  Descriptor connect() const;

 private:
  Descriptor library_, ours_, theirs_;
};

/// Both ends of a stream socket that only their holders reach. Throws Error.
struct SocketPair {
  Descriptor ours, theirs;  ///< `ours` does not block
};
SocketPair make_stream_pair();

}  // namespace trainyard
