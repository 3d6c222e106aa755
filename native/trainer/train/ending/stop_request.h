// How a rank learns that it should stop: a signal, or stop.json in the run folder.
#pragma once
#include <atomic>
#include <csignal>
#include <string>
#include <thread>

namespace trainyard {

/// Takes SIGINT and SIGTERM over: the first one sets requested(), the second one ends the process
/// at once with 128 + its number. Make it before any other thread, so that they all inherit the
/// blocked signals.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  bool requested() const { return count_.load() > 0; }

 private:
  void watch(const std::stop_token& stop);
  sigset_t signals_;
  std::atomic<int> count_{0};
  std::jthread thread_;
};

/// A stop.json written after this object was made.
class StopFile {
 public:
  explicit StopFile(const std::string& run_dir);
  bool requested() const;

 private:
  std::string path_;
  double made_;
};

}  // namespace trainyard
