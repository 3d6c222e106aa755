// The other end of `agent serve`, for tests.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "agent/messages/json.h"
#include "common/files.h"

namespace trainyard::test {

class Client {
 public:
  /// Starts `agent serve` (behind `shell_prefix`, if any) and shakes hands. `keep_alive`: seconds;
  /// 0: none.
  explicit Client(const std::string& shell_prefix = "", int keep_alive = 0);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  int pid() const { return pid_; }

  /// The result of a call. Throws std::runtime_error with code and message when it is an error.
  Json call(const std::string& method, const Json& params = Json::object());
  /// The error of a call: {code, message}.
  Json error(const std::string& method, const Json& params = Json::object());

  void send_raw(const std::string& bytes);
  /// The next answer (not a notification).
  Json next_answer(double seconds = 20);
  std::optional<Json> next_notification(double seconds);

  /// Closes stdin and waits; the exit code, or -1 when it does not end within 5 s.
  int close();

 private:
  Json exchange(const std::string& method, const Json& params);
  bool read_some(double seconds);

  int pid_ = -1;
  Descriptor to_, from_;
  std::string buffer_;
  std::deque<Json> answers_, notifications_;
  int next_id_ = 0;
};

std::string from_base64(const std::string& text);

}  // namespace trainyard::test
