#include "agent/run/log_times.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "agent/system/clock.h"
#include "agent/system/tail.h"
#include "common/error.h"
#include "common/process.h"

namespace trainyard {

namespace {

constexpr double kFine = 0.1;        // seconds between two lines
constexpr double kCoarse = 1.0;      // of a file that has become long
constexpr uint64_t kLong = 1 << 20;  // bytes: an hour of a program that never rests
constexpr uint64_t kMostBytes = 1ULL << 53;
constexpr uint64_t kLatest = 1ULL << 53;  // milliseconds
constexpr double kWatchedPeriod = 1.0;    // between looks at a log of which the system tells nothing

int64_t milliseconds_now() { return static_cast<int64_t>(std::llround(now_seconds() * 1000)); }

Descriptor watch_of(const std::string& log) {
  const Descriptor made(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  Descriptor watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (watch && ::inotify_add_watch(watch.get(), log.c_str(), IN_MODIFY) < 0) return Descriptor();
  return watch;
}

}  // namespace

std::optional<LogTime> log_time(const Json& line) {
  if (!line.is_array() || line.size() != 2) return std::nullopt;
  if (!line[0].is_number_unsigned() || !line[1].is_number_unsigned()) return std::nullopt;
  if (line[0] > kMostBytes || line[1] > kLatest) return std::nullopt;
  return LogTime{line[0].get<uint64_t>(), line[1].get<int64_t>()};
}

std::optional<LogTime> parse_log_time(std::string_view line) {
  try {
    return log_time(parse_json(line));
  } catch (const FieldError&) {
    return std::nullopt;
  }
}

uint64_t log_size(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

LogTimeFile::LogTimeFile(const RunFolder& folder, const std::string& log) : path_(folder.log_times(log)) {
  const auto lines = last_lines(path_, 1);
  const auto last = lines.empty() ? std::nullopt : parse_log_time(lines.front());
  bytes_ = log_size(path_);
  struct stat info{};
  const bool is_there = ::stat(folder.log(log).c_str(), &info) == 0;
  const auto size = static_cast<uint64_t>(is_there ? info.st_size : 0);
  try {
    file_.emplace(path_);
  } catch (const Error&) {
    return;  // append() tries again
  }
  if (last && last->size < size) append({size, info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000});
  if (!last && size > 0) append({size, 0});
}

void LogTimeFile::append(LogTime time) {
  try {
    if (!file_) file_.emplace(path_);
    const std::string line = to_line(Json::array({time.size, time.milliseconds}));
    file_->append(line);
    bytes_ += line.size() + 1;
  } catch (const Error&) {  // the next line covers what this one would have
    return;
  }
}

LogTimes::LogTimes(const RunFolder& folder, const std::string& log)
    : log_(folder.log(log)), watch_(watch_of(log_)), file_(folder, log), known_(log_size(log_)) {}

/// Between the last look and the next.
double LogTimes::period() const {
  const double shortest = file_.bytes() < kLong ? kFine : kCoarse;
  return grown_ || !watch_ ? shortest : kWatchedPeriod;
}

int LogTimes::patience_ms() const {
  return std::clamp(static_cast<int>((looked_ + period() - monotonic_seconds()) * 1000) + 1, 0, 1000);
}

void LogTimes::take_events() {
  alignas(inotify_event) std::array<char, 4096> events{};
  while (watch_ && ::read(watch_.get(), events.data(), events.size()) > 0) grown_ = true;
}

void LogTimes::look() {
  if (!grown_) take_events();
  if (monotonic_seconds() - looked_ >= period()) look_once_more();
}

void LogTimes::look_once_more() {
  take_events();
  grown_ = false;
  looked_ = monotonic_seconds();
  const uint64_t size = log_size(log_);
  if (size > known_) file_.append({size, milliseconds_now()});
  known_ = std::max(known_, size);
}

}  // namespace trainyard
