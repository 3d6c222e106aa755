#include "tests/agent/support/client.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include "agent/system/clock.h"

namespace trainyard::test {

Client::Client(const std::string& shell_prefix, int keep_alive) {
  std::array<int, 2> in{}, out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    const std::string line = shell_prefix + "exec '" TRAINYARD_AGENT "' serve";
    ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  to_ = Descriptor(in[1]);
  from_ = Descriptor(out[0]);
  const std::string nonce = "0123456789abcdef0123456789abcdef";
  Json greeting_line{{"nonce", nonce}};
  if (keep_alive > 0) greeting_line["keepAlive"] = keep_alive;
  send_raw(to_line(greeting_line) + "\n");
  const std::string greeting = "trainyard-agent " + nonce + "\n";
  const double deadline = monotonic_seconds() + 10;
  size_t at = std::string::npos;
  while (at == std::string::npos) {
    if (monotonic_seconds() > deadline || !read_some(10)) throw std::runtime_error("no greeting, only: " + buffer_);
    at = buffer_.find(greeting);
  }
  buffer_.erase(0, at + greeting.size());
}

Client::~Client() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Client::send_raw(const std::string& bytes) { write_all(to_.get(), bytes, "the agent"); }

bool Client::read_some(double seconds) {
  pollfd end{from_.get(), POLLIN, 0};
  if (::poll(&end, 1, static_cast<int>(seconds * 1000)) <= 0) return false;
  std::array<char, 65536> chunk;
  const ssize_t got = ::read(from_.get(), chunk.data(), chunk.size());
  if (got <= 0) return false;
  buffer_.append(chunk.data(), static_cast<size_t>(got));
  return true;
}

Json Client::next_answer(double seconds) {
  const double deadline = monotonic_seconds() + seconds;
  while (answers_.empty()) {
    for (size_t newline; (newline = buffer_.find('\n')) != std::string::npos; buffer_.erase(0, newline + 1)) {
      Json message = Json::parse(buffer_.substr(0, newline));  // stdout carries frames and nothing else
      (message.contains("method") ? notifications_ : answers_).push_back(std::move(message));
    }
    if (!answers_.empty()) break;
    const double left = deadline - monotonic_seconds();
    if (left <= 0 || !read_some(left)) throw std::runtime_error("no answer from the agent");
  }
  Json answer = answers_.front();
  answers_.pop_front();
  return answer;
}

std::optional<Json> Client::next_notification(double seconds) {
  const double deadline = monotonic_seconds() + seconds;
  while (notifications_.empty()) {
    for (size_t newline; (newline = buffer_.find('\n')) != std::string::npos; buffer_.erase(0, newline + 1)) {
      Json message = Json::parse(buffer_.substr(0, newline));
      (message.contains("method") ? notifications_ : answers_).push_back(std::move(message));
    }
    if (!notifications_.empty()) break;
    const double left = deadline - monotonic_seconds();
    if (left <= 0 || !read_some(left)) return std::nullopt;
  }
  Json notification = notifications_.front();
  notifications_.pop_front();
  return notification;
}

Json Client::exchange(const std::string& method, const Json& params) {
  const int id = ++next_id_;
  send_raw(to_line({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}) + "\n");
  Json answer = next_answer(60);
  if (answer["id"] != id) throw std::runtime_error("an answer to another call: " + to_line(answer));
  return answer;
}

Json Client::call(const std::string& method, const Json& params) {
  const Json answer = exchange(method, params);
  if (answer.contains("error")) throw std::runtime_error(method + ": " + to_line(answer["error"]));
  return answer["result"];
}

Json Client::error(const std::string& method, const Json& params) {
  const Json answer = exchange(method, params);
  if (!answer.contains("error")) throw std::runtime_error(method + " succeeded: " + to_line(answer));
  return answer["error"];
}

int Client::close() {
  to_ = Descriptor();
  for (int tries = 0; tries < 250; ++tries) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    sleep_ms(20);
  }
  return -1;
}

std::string from_base64(const std::string& text) {
  static const std::string kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned group = 0;
  int bits = 0;
  for (const char letter : text) {
    if (letter == '=') break;
    group = group << 6 | static_cast<unsigned>(kLetters.find(letter));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<char>(group >> bits & 0xff));
  }
  return bytes;
}

}  // namespace trainyard::test
