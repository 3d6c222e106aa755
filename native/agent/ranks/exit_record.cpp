#include "agent/ranks/exit_record.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "agent/ranks/python_exception.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr uint64_t kSearched = 64ULL << 20;  // a rank's last words stand near the end of its log
constexpr double kCascadeSeconds = 1.0;
constexpr size_t kLongestLine = 4096;
constexpr double kStartSeconds = 300;  // imports of a large program from a slow disk end within it

bool came_before(const ExitRecord& one, const ExitRecord& other) {
  if (one.seen == other.seen && one.host == other.host) return one.ended < other.ended;
  return one.seen < other.seen;
}

bool is_error_line(const std::string& line) {
  return line.starts_with("trainer: error:") || line.starts_with("agent: error:");
}

}  // namespace

Json ExitRecord::to_json() const {
  Json json;
  json["rank"] = rank;
  json["host"] = host;
  json["pid"] = pid;
  json["exit_code"] = json_or_null(exit_code);
  json["signal"] = json_or_null(signal);
  json["last_step"] = last_step;
  json["started"] = started;
  json["ended"] = ended;
  json["last_line"] = json_or_null(last_line);
  json["exception"] = json_or_null(exception);
  json["outcome"] = json_or_null(outcome.exit_code);
  json["retryable"] = json_or_null(outcome.retryable);
  return json;
}

int ExitRecord::code() const {
  if (outcome.exit_code) return *outcome.exit_code;
  if (exit_code) return *exit_code;
  return signal ? 128 + *signal : 1;
}

bool ExitRecord::worth_retrying() const {
  if (outcome.retryable) return *outcome.retryable;
  if (exception && ended - started < kStartSeconds && is_mistake_in_the_text(*exception)) return false;
  const std::set<int> users_own{2, 3, 4, 126, 127};
  return !exit_code || !users_own.contains(*exit_code);
}

std::string ExitRecord::how_it_ended() const {
  if (signal) return "signal " + std::to_string(*signal) + " (" + signal_name(*signal) + ")";
  return exit_code ? "exit code " + std::to_string(*exit_code) : "unknown";
}

std::string ExitRecord::description() const {
  if (last_line) return *last_line;
  const std::string who = "rank " + std::to_string(rank) + " on " + host;
  const std::string when = last_step > 0 ? " at step " + std::to_string(last_step) : "";
  if (lost) return who + " disappeared without an exit record" + when;
  if (signal) return who + " was killed by " + how_it_ended() + when;
  return who + " exited with code " + std::to_string(*exit_code) + when + (exception ? ": " + *exception : "");
}

std::optional<ExitRecord> read_exit_record(const std::string& path, int rank) {
  const std::optional<Json> json = read_json_object(path);
  if (!json) return std::nullopt;
  try {
    const Fields fields(*json, "exit record");
    ExitRecord record;
    record.rank = rank;
    record.host = fields.optional_string("host").value_or("");
    record.pid = static_cast<int>(fields.integer_or("pid", 0, 0, 1 << 30));
    if (fields.find("exit_code") != nullptr) record.exit_code = static_cast<int>(fields.integer("exit_code", 0, 255));
    if (fields.find("signal") != nullptr) record.signal = static_cast<int>(fields.integer("signal", 1, 128));
    if (!record.exit_code && !record.signal) return std::nullopt;
    record.last_step = fields.integer_or("last_step", 0, 0, INT64_MAX);
    record.started = fields.number_or("started", 0, 0, 1e18);
    record.ended = fields.number_or("ended", 0, 0, 1e18);
    record.last_line = fields.optional_string("last_line");
    record.exception = fields.optional_string("exception");
    if (fields.find("outcome") != nullptr) {
      record.outcome.exit_code = static_cast<int>(fields.integer("outcome", 0, 255));
    }
    if (fields.find("retryable") != nullptr) record.outcome.retryable = fields.boolean_or("retryable", false);
    return record;
  } catch (const FieldError&) {
    return std::nullopt;  // not written by us: as good as none
  }
}

std::string signal_name(int signal) {
  static const std::map<int, const char*> kNames{
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"},
      {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"}, {SIGSEGV, "SIGSEGV"},
      {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
      {SIGSYS, "SIGSYS"},   {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"}};
  const auto found = kNames.find(signal);
  return found == kNames.end() ? "an unnamed signal" : found->second;
}

bool ExitRecord::may_be_consequence() const {
  static const std::set<int> kOfMpi{SIGABRT, SIGPIPE, SIGSEGV, SIGBUS};
  return signal && kOfMpi.contains(*signal) && !last_line;
}

std::optional<std::string> last_error_line(const std::string& path, uint64_t offset) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  if (size < 0) return std::nullopt;
  if (static_cast<uint64_t>(size) > kSearched) offset = std::max(offset, static_cast<uint64_t>(size) - kSearched);

  std::array<char, 65536> chunk;
  std::optional<std::string> last;
  std::string line;
  const auto end_line = [&] {
    if (is_error_line(line)) last = line;
    line.clear();
  };
  for (;;) {
    const ssize_t got = ::pread(fd.get(), chunk.data(), chunk.size(), static_cast<off_t>(offset));
    if (got <= 0) break;
    offset += static_cast<uint64_t>(got);
    for (ssize_t at = 0; at < got; ++at) {
      const char letter = chunk[static_cast<size_t>(at)];
      if (letter == '\n' || letter == '\r') {
        end_line();
      } else if (line.size() < kLongestLine) {
        line.push_back(letter);
      }
    }
  }
  end_line();
  return last;
}

const ExitRecord* first_failure(const std::vector<ExitRecord>& records) {
  const ExitRecord* first = nullptr;
  for (const ExitRecord& record : records) {
    if (record.failed() && (first == nullptr || came_before(record, *first))) first = &record;
  }
  // MPI_Abort brings the other ranks down in no particular order: the one that said why explains
  // it. A SIGKILL, though, is nobody's consequence; and the record of a rank on another node comes
  // later, by another clock.
  if (first == nullptr || first->last_line || first->signal == SIGKILL) return first;
  for (const ExitRecord& record : records) {
    if (record.failed() && record.last_line && record.seen - first->seen < kCascadeSeconds) return &record;
  }
  if (!first->may_be_consequence()) return first;
  for (const ExitRecord& record : records) {
    const bool explains = record.signal || (record.failed() && record.last_line);
    if (explains && !record.may_be_consequence()) return &record;
  }
  return first;
}

}  // namespace trainyard
