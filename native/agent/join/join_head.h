// The way from a node to the head of its run: connects, and connects again whenever it is lost.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "agent/connection/wire.h"
#include "agent/join/node_ranks.h"

namespace trainyard {

class HeadConnection {
 public:
  /// `silent`: seconds after which a head that says nothing is lost.
  explicit HeadConnection(const JoinSpec& spec, double silent = 15);
  HeadConnection(const HeadConnection&) = delete;
  HeadConnection& operator=(const HeadConnection&) = delete;

  /// Connects, reads, writes. Returns true when a connection was authenticated just now.
  bool step();
  /// Nullptr while there is no authenticated connection.
  Wire* wire() { return wire_ && wire_->authenticated() ? wire_.get() : nullptr; }
  /// Sends what waits, and waits until the head has closed the connection, and so has read all; 2 s
  /// at most.
  void finish();
  /// The head's next message.
  std::optional<Json> next();
  /// Monotonic seconds since which the head is not there; 0 while it is.
  double lost_since() const { return lost_since_; }
  /// For how many seconds each try was refused by the head's machine, or answered there by another
  /// run or program. A supervisor never listens a second time with the same key.
  double gone_for() const;
  /// For how many seconds this node has not been able to resolve the head's name.
  double unknown_for() const;
  const std::string& why() const { return why_; }
  /// Waits until there is something to read here or at `other` (events as poll's; 0: none), 50 ms
  /// at most.
  void wait(int other = -1, short events = 0) const;

 private:
  void begin();
  void drop(const std::string& why, bool is_gone = false);

  JoinSpec spec_;
  double silent_;
  std::string peer_;  ///< the dotted address of this connection
  std::string at_;    ///< of the last one that was authenticated
  Descriptor connecting_;
  std::unique_ptr<Wire> wire_;
  bool was_authenticated_ = false;
  double lost_since_;
  double gone_since_ = 0;     ///< monotonic seconds; 0: the head may still listen
  double unknown_since_ = 0;  ///< monotonic seconds; 0: it is known
  double deadline_ = 0, next_try_ = 0, patience_ = 0.2;
  std::string why_ = "it has not been reached yet";
};

}  // namespace trainyard
