// A way to a run's head that can be cut: passes bytes between a port of its own and the head's.
#pragma once
#include <atomic>
#include <thread>

#include "common/files.h"

namespace trainyard::test {

class Relay {
 public:
  /// To 127.0.0.2:`target`, from a free port of 127.0.0.1.
  explicit Relay(int target);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  int port() const;
  /// Asks for the present connection to be cut in mid-stream; 1 when there was one.
  int cut();

 private:
  void run();
  void pass(const Descriptor& node, const Descriptor& head);

  int target_;
  Descriptor listening_;
  std::atomic<bool> over_ = false, cut_ = false, connected_ = false;
  std::thread thread_;
};

}  // namespace trainyard::test
