// One connection between a node and the head of its run. Both prove that they hold the run's key
// before anything else is said. Every later line is `MAC JSON` with a MAC under a key of this
// connection, direction and number; `MAC+N JSON` is followed by N bytes, which its MAC covers too.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/messages/frames.h"
#include "agent/messages/json.h"
#include "common/files.h"

namespace trainyard {

class Wire {
 public:
  enum class Side { head, node };

  /// Takes over a connected, non-blocking socket. `host`: the node's name, where this side knows it
  /// already.
  Wire(Descriptor socket, Side side, std::string key, std::string host = "");

  /// Reads, checks and writes what there is. False once the connection is lost or refused; `why()`
  /// then says why.
  bool pump();
  /// True once both sides have proved that they hold the key.
  bool authenticated() const { return phase_ == Phase::open; }
  /// True once a node knows by the greeting that the head of another run, or another program,
  /// listens there.
  bool is_stranger() const { return is_stranger_; }
  /// The next message of the other side; none before it is authenticated.
  std::optional<Json> next();
  /// Those that came with the last message that next() gave.
  const std::string& bytes() const { return bytes_; }
  /// Only after authentication. `bytes`: kMostBytes at most, that follow the message as they are.
  void send(const Json& message, std::string_view bytes = {});
  static constexpr size_t kMostBytes = 256 << 10;

  const std::string& host() const { return host_; }
  const std::string& why() const { return why_; }
  size_t waiting() const { return writer_.waiting(); }
  /// Nothing more is sent. What the other side sends is still read, so that closing the socket resets
  /// no connection: a reset may overtake what was sent last.
  void end_sending();
  int fd() const { return socket_.get(); }
  double opened() const { return opened_; }  ///< monotonic seconds
  double heard() const { return heard_; }    ///< of the last line that was believed
  bool more() const { return more_; }        ///< the last pump may have left input in the socket

 private:
  enum class Phase { challenge, proof, open, closed };
  void shake_hands(const std::string& line);
  void take_challenge(const Json& line);
  void take_hello(const Json& line);
  void take_proof(const Json& line);
  std::string proof(const char* of) const;
  void open();
  bool close(const std::string& why);
  bool read_header(const LineReader::Line& line);
  void close_stranger(const std::string& why);

  Descriptor socket_;
  Side side_;
  std::string key_, host_, why_;
  LineReader reader_;
  FrameWriter writer_;
  Phase phase_;
  std::string head_challenge_, node_challenge_;
  /// Of a message whose bytes may not have come yet.
  struct Header {
    std::string mac, body;
    size_t count = 0;  ///< of its bytes
  };
  std::optional<Header> header_;
  std::string bytes_;
  std::string sending_key_, receiving_key_;
  uint64_t sent_ = 0, received_ = 0;
  double opened_, heard_;
  bool more_ = false, is_stranger_ = false;
};

}  // namespace trainyard
