// Messages from one rank to another. Ranks are those of the communicator that made the mailbox.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

namespace trainyard {

/// Messages under way that are waited for together. Their memory must stay until then.
class Transfers {
 public:
  virtual ~Transfers() = default;
  virtual void send(int to, int tag, std::span<const float> values) = 0;
  virtual void send(int to, int tag, std::span<const double> values) = 0;
  virtual void send(int to, int tag, std::span<const uint16_t> values) = 0;
  /// Of exactly so many values.
  virtual void receive(int from, int tag, std::span<float> values) = 0;
  virtual void receive(int from, int tag, std::span<double> values) = 0;
  virtual void receive(int from, int tag, std::span<uint16_t> values) = 0;
  /// Lets them move on; whether all are done. More may be added after either of these.
  virtual bool done() = 0;
  virtual void wait() = 0;
};

class Mailbox {
 public:
  virtual ~Mailbox() = default;
  virtual std::unique_ptr<Transfers> transfers() = 0;
  /// Waits for the next message with this tag, whoever sent it; returns the sender.
  virtual int receive_any(int tag, std::span<double> values) = 0;
  /// Whether a message from there is waiting to be received.
  virtual bool arrived(int from, int tag) = 0;
};

}  // namespace trainyard
