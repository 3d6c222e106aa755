#include "trainer/train/process/io_beat.h"

#include <chrono>
#include <fstream>
#include <string>
#include <utility>

namespace trainyard {

namespace {

constexpr uint64_t kEnough = 4096;  // bytes; heartbeats and this file itself are far less
constexpr auto kBetweenLooks = std::chrono::seconds(1);

/// rchar and wchar of proc(5): bytes that read and write calls have passed, whether a disk was
/// touched or not.
uint64_t bytes_passed(const char* path) {
  std::ifstream file(path);
  std::string name;
  uint64_t value = 0;
  uint64_t sum = 0;
  while (file >> name >> value) {
    if (name == "rchar:" || name == "wchar:") sum += value;
  }
  return sum;
}

/// Of all threads but the one that asks.
uint64_t bytes_of_others() {
  const uint64_t own = bytes_passed("/proc/thread-self/io");
  const uint64_t all = bytes_passed("/proc/self/io");
  return all > own ? all - own : 0;
}

}  // namespace

IoProgress::IoProgress() : before_(bytes_of_others()) {}

bool IoProgress::moved() {
  const uint64_t now = bytes_of_others();
  if (now < before_ + kEnough) return false;
  before_ = now;
  return true;
}

IoBeat::IoBeat(std::function<void()> beat) : beat_(std::move(beat)), thread_([this] { run(); }) {}

IoBeat::~IoBeat() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

void IoBeat::run() {
  IoProgress progress;
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, kBetweenLooks, [this] { return ended_; })) {
    if (progress.moved()) beat_();
  }
}

}  // namespace trainyard
