#include "agent/cluster/file_wire.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "agent/system/clock.h"
#include "common/files.h"
#include "common/process.h"

namespace trainyard {

namespace {

constexpr size_t kPiece = Wire::kMostBytes;
constexpr uint64_t kUnconfirmed = 8U << 20;  // bytes on their way, at most
constexpr size_t kHighWater = 1 << 20;       // bytes waiting to be sent, at most
constexpr double kBeatSeconds = 1;           // between signs of life
constexpr double kByeSeconds = 1;
constexpr int kTickMs = 100;

}  // namespace

void FileWire::turn() {
  if (!wire_.pump()) throw FileWireBroken(wire_.why(), false);
  while (const auto message = wire_.next()) take(*message);
  if (!wire_.why().empty()) throw FileWireBroken(wire_.why(), false);
  look();
  const double now = monotonic_seconds();
  if (now < next_beat_) return;
  next_beat_ = now + kBeatSeconds;
  say({{"kind", "beat"}});
}

void FileWire::wait_for_bytes() {
  if (monotonic_seconds() - wire_.heard() > longest_silence()) {
    throw FileWireBroken("nothing was heard from it for long", false);
  }
  pollfd end{wire_.fd(), static_cast<short>(POLLIN | (wire_.waiting() > 0 ? POLLOUT : 0)), 0};
  ::poll(&end, 1, kTickMs);
}

void FileWire::take(const Json& message) {
  const Fields fields(message, "message");
  const std::string kind = fields.string("kind");
  if (kind == "have") {
    const Json* files = fields.find("files");
    if (files == nullptr || !files->is_array()) throw FieldError("it names no files");
    for (const Json& one : *files) {
      if (!one.is_array() || one.size() != 3 || !one[0].is_string() || !one[1].is_number_unsigned() ||
          !one[2].is_number_integer()) {
        throw FieldError("a file of it is none");
      }
      has_file(one[0].get<std::string>(), one[1].get<uint64_t>(), one[2].get<int64_t>());
    }
  } else if (kind == "ask") {
    asked_ = true;
  } else if (kind == "got") {
    confirmed_ = static_cast<uint64_t>(fields.integer("bytes", 0, INT64_MAX));
    got(confirmed_);
  } else if (kind == "passed") {
    passed_ = true;
  } else if (kind == "failed") {
    throw FileWireBroken(fields.string("why"), true);
  }
}

void FileWire::wait_until_asked() {
  wait_until([this] { return asked_; });
}

void FileWire::pass(Json fields) {
  passed_ = false;
  fields["kind"] = "pass";
  say(fields);
  wait_until([this] { return passed_; });
}

bool FileWire::send(const MirroredFile& file, uint64_t from) {
  if (!file.link.empty()) {
    say({{"kind", "link"}, {"path", file.path}, {"target", file.link}});
    return true;
  }
  const std::string path = dir_ + "/" + file.path;
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat opened{};
  if (!fd || ::fstat(fd.get(), &opened) != 0 || opened.st_ino != file.inode) return false;
  say({{"kind", "put"},
       {"path", file.path},
       {"from", from},
       {"size", file.size},
       {"time", file.time},
       {"runs", file.runs}});
  std::string piece(kPiece, '\0');
  uint64_t at = from;
  while (at < file.size) {
    const size_t wanted = std::min<uint64_t>(piece.size(), file.size - at);
    const ssize_t got = ::pread(fd.get(), piece.data(), wanted, static_cast<off_t>(at));
    if (got <= 0) break;
    wire_.send({{"kind", "data"}}, std::string_view(piece).substr(0, static_cast<size_t>(got)));
    at += static_cast<uint64_t>(got);
    sent_ += static_cast<uint64_t>(got);
    wait_until([this] { return sent_ - confirmed_ <= kUnconfirmed && wire_.waiting() <= kHighWater; });
  }
  struct stat now{};
  const bool is_whole =
      at == file.size && ::fstat(fd.get(), &now) == 0 &&
      (file.grows || (static_cast<uint64_t>(now.st_size) == file.size && time_written(now) == file.time));
  say({{"kind", is_whole ? "end" : "drop"}});
  return is_whole;
}

void FileWire::say_bye() {
  say({{"kind", "bye"}});
  const double deadline = monotonic_seconds() + kByeSeconds;
  while (wire_.pump() && wire_.waiting() > 0 && monotonic_seconds() < deadline) sleep_ms(10);
}

}  // namespace trainyard
