#include "agent/rpc/serve.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <optional>

#include "agent/messages/frames.h"
#include "agent/rpc/rpc.h"
#include "agent/system/clock.h"
#include "agent/system/litter.h"
#include "agent/system/paths.h"

namespace trainyard {

namespace {

constexpr size_t kHighWater = 1 << 20;   // bytes waiting for a slow client: no new work above this
constexpr size_t kMostNoise = 64 << 10;  // bytes before the nonce line
constexpr int kJobTickMs = 25;
constexpr int kAliveTickMs = 500;
constexpr double kLastFlushSeconds = 2;

void make_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

struct Greeting {
  std::string nonce;      ///< 32 hexadecimal digits
  double keep_alive = 0;  ///< seconds of the client's silence after which it is gone; 0: any time
};

/// Of a line {"nonce":"<32 hex>","keepAlive":SECONDS}; nothing for any other line.
std::optional<Greeting> greeting_of(const std::string& line) {
  try {
    const Json json = parse_json(line);
    const Fields fields(json, "greeting");
    const Greeting greeting{fields.string("nonce"), fields.number_or("keepAlive", 0, 0, 86400)};
    const bool hex = std::all_of(greeting.nonce.begin(), greeting.nonce.end(),
                                 [](unsigned char c) { return std::isxdigit(c) != 0; });
    return hex && greeting.nonce.size() == 32 ? std::optional(greeting) : std::nullopt;
  } catch (const FieldError&) {
    return std::nullopt;
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
        dispatcher_(writer_, {followers_, sampler_, gpus_, queue_}) {}

  int run() {
    while (connected_) {
      wait();
      take_lines();
      dispatcher_.work();
      if (greeted_ && writer_.waiting() < kHighWater) more_ = followers_.pump();
      if (!flush()) return 0;  // nobody reads any more
      if (keep_alive_ > 0 && monotonic_seconds() - heard_ > keep_alive_) {
        std::fprintf(stderr, "agent: the client was silent for %.0f s and counts as gone\n", keep_alive_);
        return 0;
      }
    }
    flush_rest();
    return greeted_ ? 0 : 2;
  }

 private:
  /// What the client takes is a sign of life too: while it is slow, nothing is read from it.
  bool flush() {
    const size_t before = writer_.waiting();
    const bool well = writer_.flush();
    if (writer_.waiting() < before) heard_ = monotonic_seconds();
    return well;
  }

  void wait() {
    const bool congested = writer_.waiting() >= kHighWater;
    std::array<pollfd, 3> ends{{{congested ? -1 : STDIN_FILENO, POLLIN, 0},
                                {STDOUT_FILENO, static_cast<short>(writer_.waiting() > 0 ? POLLOUT : 0), 0},
                                {followers_.inotify_fd(), POLLIN, 0}}};
    int patience = congested ? -1 : followers_.patience_ms();
    if (dispatcher_.working() && (patience < 0 || patience > kJobTickMs)) patience = kJobTickMs;
    if (keep_alive_ > 0 && (patience < 0 || patience > kAliveTickMs)) patience = kAliveTickMs;
    if (!congested && (more_ || dispatcher_.computing())) patience = 0;
    ::poll(ends.data(), ends.size(), patience);
    if ((ends[0].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) != 0) {
      connected_ = reader_.fill();
      heard_ = monotonic_seconds();
    }
    if ((ends[1].revents & (POLLERR | POLLNVAL)) != 0) connected_ = false;
    if ((ends[2].revents & POLLIN) != 0) followers_.read_events();
  }

  void take_lines() {
    while (const auto line = reader_.next()) {
      greeted_ ? dispatcher_.handle(*line) : greet(line->text);
    }
  }

  void greet(const std::string& line) {
    if (const auto greeting = greeting_of(line)) {
      greeted_ = true;
      keep_alive_ = greeting->keep_alive;
      writer_.send("trainyard-agent " + greeting->nonce);
      writer_.flush();
      remove_litter();
      return;
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
  GpuReservations gpus_;
  GpuQueue queue_;
  Dispatcher dispatcher_;
  bool connected_ = true, greeted_ = false, more_ = false;
  size_t noise_ = 0;
  double keep_alive_ = 0, heard_ = monotonic_seconds();
};

}  // namespace

int serve() {
  ::signal(SIGPIPE, SIG_IGN);
  make_nonblocking(STDIN_FILENO);
  make_nonblocking(STDOUT_FILENO);
  return Server().run();
}

}  // namespace trainyard
