// One stream of bytes between a program here and one at the other end of a Wire, both ways. Every
// byte has a number, so a connection that was lost and made anew neither loses nor repeats any.
#pragma once
#include <cstdint>
#include <string>

#include "agent/connection/wire.h"
#include "agent/messages/json.h"
#include "common/files.h"

namespace trainyard {

class RelayedStream {
 public:
  RelayedStream() = default;
  explicit RelayedStream(int generation) : generation_(generation) {}

  int generation() const { return generation_; }
  bool attached() const { return attached_; }
  /// The end of the program here: a stream socket that does not block; none when the program is
  /// gone.
  void attach(Descriptor local);

  /// A message of the other side with kind `control` and this generation. Throws FieldError.
  void take(const Fields& message);
  /// Writes what waits for the program here, and reads what it has written.
  void pump_local();
  /// Sends the other side what it has not had on this connection.
  void pump_wire(Wire& wire);
  /// The connection is another one: what the other side has not confirmed is sent again.
  void rewind();

  /// What to wait for at fd(); 0: nothing.
  short events() const;
  int fd() const { return local_.get(); }
  /// Whether pump_wire would send something.
  bool has_news() const;

 private:
  uint64_t confirmed() const { return got_ - incoming_.size(); }
  uint64_t read_end() const { return acknowledged_ + outgoing_.size(); }
  void write_local();
  void read_local();
  void end_local();

  int generation_ = 0;
  Descriptor local_;
  bool attached_ = false;
  // From here to there.
  std::string outgoing_;       ///< what was read and is not confirmed
  uint64_t acknowledged_ = 0;  ///< bytes that the other side's program has taken
  uint64_t sent_ = 0;          ///< bytes sent on this connection or an earlier one
  bool ended_ = false, end_sent_ = false;
  // From there to here.
  std::string incoming_;  ///< what the program here has not taken
  uint64_t got_ = 0;      ///< bytes that have arrived
  uint64_t told_ = 0;     ///< what the other side was last told of confirmed()
  bool other_ended_ = false;
  bool deaf_ = false;  ///< the program here takes no more
};

}  // namespace trainyard
