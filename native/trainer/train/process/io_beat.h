// Signs of life while a rank reads or writes for long: at its start, and for a checkpoint.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace trainyard {

/// Whether bytes move: what this process has read and written, by the kernel's own count
/// (/proc/self/io), which holds whoever does it: checkpoints that are hashed, loaded or written,
/// shards that are unpacked.
class IoProgress {
 public:
  IoProgress();
  /// Whether all other threads together have moved at least 4 KiB since this last said so. Where
  /// the kernel does not tell, never. Always from the same thread.
  bool moved();

 private:
  uint64_t before_ = 0;
};

/// While it lives, calls `beat` from a thread of its own about once a second, but only where bytes
/// have moved.
class IoBeat {
 public:
  explicit IoBeat(std::function<void()> beat);
  ~IoBeat();
  IoBeat(const IoBeat&) = delete;
  IoBeat& operator=(const IoBeat&) = delete;

 private:
  void run();

  std::function<void()> beat_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace trainyard
