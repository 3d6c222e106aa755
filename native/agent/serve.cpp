#include "agent/serve.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "agent/frames.h"
#include "agent/kill.h"
#include "agent/paths.h"
#include "agent/rpc.h"

namespace trainyard {

namespace {

constexpr size_t kHighWater = 1 << 20;   // bytes waiting for a slow client: no new work above this
constexpr size_t kMostNoise = 64 << 10;  // bytes before the nonce line
constexpr int kJobTickMs = 25;
constexpr double kLastFlushSeconds = 2;

void make_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

/// The nonce of a line {"nonce":"<32 hex>"}, empty for any other line.
std::string nonce_of(const std::string& line) {
  try {
    const Json json = parse_json(line);
    const std::string nonce = Fields(json, "greeting").string("nonce");
    const bool hex = std::all_of(nonce.begin(), nonce.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
    return hex && nonce.size() == 32 ? nonce : "";
  } catch (const FieldError&) {
    return "";
  }
}

class Server {
 public:
  Server()
      : reader_(STDIN_FILENO),
        writer_(STDOUT_FILENO),
        followers_([this](const char* method, const Json& params) {
          writer_.send(to_line({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}));
        }),
        sampler_(home_folder()),
        dispatcher_(writer_, {followers_, sampler_}) {}

  int run() {
    while (connected_) {
      wait();
      take_lines();
      dispatcher_.work();
      if (greeted_ && writer_.waiting() < kHighWater) more_ = followers_.pump();
      if (!writer_.flush()) return 0;  // nobody reads any more
    }
    flush_rest();
    return greeted_ ? 0 : 2;
  }

 private:
  void wait() {
    const bool congested = writer_.waiting() >= kHighWater;
    std::array<pollfd, 3> ends{{{congested ? -1 : STDIN_FILENO, POLLIN, 0},
                                {STDOUT_FILENO, static_cast<short>(writer_.waiting() > 0 ? POLLOUT : 0), 0},
                                {followers_.inotify_fd(), POLLIN, 0}}};
    int patience = congested ? -1 : followers_.patience_ms();
    if (dispatcher_.working() && (patience < 0 || patience > kJobTickMs)) patience = kJobTickMs;
    if (!congested && (more_ || dispatcher_.computing())) patience = 0;
    ::poll(ends.data(), ends.size(), patience);
    if ((ends[0].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) != 0) connected_ = reader_.fill();
    if ((ends[1].revents & (POLLERR | POLLNVAL)) != 0) connected_ = false;
    if ((ends[2].revents & POLLIN) != 0) followers_.read_events();
  }

  void take_lines() {
    while (const auto line = reader_.next()) {
      greeted_ ? dispatcher_.handle(*line) : greet(line->text);
    }
  }

  void greet(const std::string& line) {
    const std::string nonce = nonce_of(line);
    if (!nonce.empty()) {
      greeted_ = true;
      return writer_.send("trainyard-agent " + nonce);
    }
    noise_ += line.size() + 1;
    if (noise_ < kMostNoise) return;
    std::fprintf(stderr, "agent: error: no greeting on stdin. This program is started by Trainyard, not by hand\n");
    connected_ = false;
  }

  /// What was answered before stdin closed still goes out, for a while.
  void flush_rest() {
    const double deadline = monotonic_seconds() + kLastFlushSeconds;
    while (writer_.flush() && writer_.waiting() > 0 && monotonic_seconds() < deadline) {
      pollfd out{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&out, 1, 100);
    }
  }

  LineReader reader_;
  FrameWriter writer_;
  Followers followers_;
  HostSampler sampler_;
  Dispatcher dispatcher_;
  bool connected_ = true, greeted_ = false, more_ = false;
  size_t noise_ = 0;
};

}  // namespace

int serve() {
  ::signal(SIGPIPE, SIG_IGN);
  make_nonblocking(STDIN_FILENO);
  make_nonblocking(STDOUT_FILENO);
  return Server().run();
}

}  // namespace trainyard
