// What is done while the disk or the server that holds the images fails: read again, more and more
// seldom.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

namespace trainyard {

/// Safe to use from many threads.
class Patience {
 public:
  static constexpr double kSeconds = 60;

  /// seconds: from the first failure of a read to giving up; 0: at once. say: lines for people,
  /// called from any thread.
  explicit Patience(double seconds = kSeconds, std::function<void(const std::string& line)> say = {});
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  /// What `attempt` gives. While it throws an Error for which trying again is worthwhile (EIO,
  /// ESTALE, ETIMEDOUT, …) it is called again after 0.1 s, then after twice as long each time up to
  /// 5 s. Throws the last such Error once the seconds have passed or end() was called, and at once
  /// whatever else `attempt` throws.
  std::string read(const std::function<std::string()>& attempt);

  /// Ends all waits: a read that fails from now on throws at once.
  void end();

 private:
  /// False where there is no time left. waited: seconds since the first failure.
  bool wait(double waited, double pause);
  void tell(const std::string& line) const;

  double seconds_;
  std::function<void(const std::string&)> say_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
};

}  // namespace trainyard
