// A few bytes on their way to the device in order with the ops, without a wait of the host.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace trainyard::cuda {

/// At most so many bytes at once: labels, the number of an image.
inline constexpr size_t kMostSent = size_t{64} << 10U;

/// kMostSent bytes of the host's memory which the device reads by itself.
class SendPlace {
 public:
  virtual ~SendPlace() = default;
  virtual std::byte* data() = 0;
  /// Starts the copy of the first `bytes` to the device's `memory`, behind the ops run so far.
  virtual void start(void* memory, size_t bytes) = 0;
  /// Whether the device has read what was started last.
  virtual bool is_read() = 0;
};

/// As many sends may be under way as there are places; the next one waits for the oldest.
class Sends {
 public:
  /// Returns once done() is true, or throws where that will not come.
  using Wait = std::function<void(const std::function<bool()>& done)>;
  Sends(std::vector<std::unique_ptr<SendPlace>> places, Wait wait);
  /// `host` may be used again at once. At most kMostSent bytes.
  void send(void* memory, const void* host, size_t bytes);

 private:
  std::vector<std::unique_ptr<SendPlace>> places_;
  Wait wait_;
  size_t next_ = 0;
};

}  // namespace trainyard::cuda
