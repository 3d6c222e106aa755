#include "agent/join/node_figures.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "agent/run/log_times.h"
#include "agent/system/clock.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr size_t kMost = 48 << 10;  // bytes of lines in one message
constexpr double kTrySeconds = 2;
constexpr size_t kHighWater = 192 << 10;  // bytes waiting to be sent: no further lines above this

Reports::Notice to_head(Wire& wire) {
  return [&wire](const std::string& kind, const Json& fields) {
    wire.send({{"kind", "figures_notice"}, {"event", kind}, {"fields", fields}});
  };
}

}  // namespace

NodeFigures::NodeFigures(const RunFolder& folder, const std::string& host)
    : path_(folder.node(host, "figures.jsonl")),
      size_at_start_(log_size(path_)),
      sent_(size_at_start_),
      lock_path_(folder.file("nodes/figures.lock")),
      reports_(folder, "nodes/" + host + "/") {}

void NodeFigures::begin(int generation) {
  generation_ = generation;
  follow();
}

void NodeFigures::follow() {
  if (!lock_) {
    next_try_ = monotonic_seconds() + kTrySeconds;
    Descriptor lock(::open(lock_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return;
    lock_ = std::move(lock);  // where nothing can be locked, each node follows
  }
  reports_.begin(generation_);
}

void NodeFigures::pump(Wire& wire) {
  if (generation_ > 0 && !lock_ && monotonic_seconds() >= next_try_) follow();
  reports_.look(to_head(wire));
  send_lines(wire);
}

void NodeFigures::send_lines(Wire& wire) {
  while (wire.waiting() < kHighWater && log_size(path_) > sent_) {
    const Descriptor fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text(kMost, '\0');
    const ssize_t got = fd ? ::pread(fd.get(), text.data(), text.size(), static_cast<off_t>(sent_)) : -1;
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    text.resize(text.rfind('\n') + 1);  // 0 where there is no whole line
    if (text.empty()) return;
    wire.send({{"kind", "figures"}, {"offset", sent_}, {"lines", text}});
    sent_ += text.size();
  }
}

bool NodeFigures::concluded(Wire& wire) {
  reports_.close();
  const bool is_over = reports_.is_over(to_head(wire));
  send_lines(wire);
  return is_over && log_size(path_) <= sent_;
}

}  // namespace trainyard
