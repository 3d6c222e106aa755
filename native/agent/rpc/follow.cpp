#include "agent/rpc/follow.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "agent/messages/base64.h"
#include "agent/messages/rpc_error.h"
#include "agent/system/clock.h"

namespace trainyard {

namespace {
constexpr size_t kMostFiles = 1024;
constexpr double kWatchedPeriod = 1.0;     // seconds between looks where inotify should have told
constexpr double kUnwatchedPeriod = 0.05;  // where the folder is not there yet
constexpr double kGatherPeriod = 0.06;     // a busy file's small writes travel together
constexpr uint32_t kInterest = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE;
}  // namespace

struct Followers::Followed {
  Json id;
  std::string path, folder, name;
  uint64_t offset = 0;
  uint64_t inode = 0;  ///< of the open file, or the one the client knew; 0: none yet
  Descriptor fd;
  int watch = -1;       ///< of its folder
  bool changed = true;  ///< to be looked at in the next pump
  double next_look = 0;
  double earliest = 0;  ///< no chunk before this
};

Followers::Followers(Send send) : send_(std::move(send)), inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}
Followers::~Followers() = default;

void Followers::add(const Json& id, const std::string& path, uint64_t offset, uint64_t inode) {
  if (!id.is_string() && !id.is_number_integer()) throw FieldError("params.id must be a string or a whole number");
  if (files_.contains(id.dump())) throw FieldError("params.id is in use by another file.follow. Choose a new one");
  if (files_.size() >= kMostFiles) {
    throw RpcError(RpcCode::refused, "1024 files are followed already. Stop following some");
  }
  auto file = std::make_unique<Followed>();
  file->id = id;
  file->path = path;
  file->folder = std::filesystem::path(path).parent_path().string();
  file->name = std::filesystem::path(path).filename().string();
  file->offset = offset;
  file->inode = inode;
  watch(*file);
  files_[id.dump()] = std::move(file);
}

bool Followers::remove(const Json& id) {
  const auto found = files_.find(id.dump());
  if (found == files_.end()) return false;
  unwatch(found->second->watch);
  files_.erase(found);
  return true;
}

void Followers::watch(Followed& file) {
  if (file.watch >= 0 || !inotify_) return;
  file.watch = ::inotify_add_watch(inotify_.get(), file.folder.c_str(), kInterest | IN_ONLYDIR);
  if (file.watch >= 0) ++watches_[file.watch];
}

void Followers::unwatch(int descriptor) {
  const auto found = watches_.find(descriptor);
  if (found == watches_.end() || --found->second > 0) return;
  watches_.erase(found);
  ::inotify_rm_watch(inotify_.get(), descriptor);
}

void Followers::read_events() {
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t got = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (got <= 0) return;
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      const bool folder_gone = (event->mask & IN_IGNORED) != 0;
      const bool all = (event->mask & IN_Q_OVERFLOW) != 0;
      for (auto& [id, file] : files_) {
        if (!all && file->watch != event->wd) continue;
        if (folder_gone) file->watch = -1;
        if (all || folder_gone || (event->len > 0 && file->name == event->name)) file->changed = true;
      }
      if (folder_gone) watches_.erase(event->wd);
    }
  }
}

void Followers::reset(Followed& file, uint64_t size) {
  send_("file.reset", {{"id", file.id}, {"size", size}});
  file.offset = 0;
}

/// Opens the file that stands at the path now and compares it with what was known of it.
void Followers::look(Followed& file) {
  watch(file);
  struct stat info{};
  if (::stat(file.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;  // replaced at once, or gone for good
  const uint64_t size = static_cast<uint64_t>(info.st_size);
  const uint64_t inode = info.st_ino & kInodeBits;
  const bool other = file.inode != 0 && file.inode != inode;
  if (!file.fd || other) {
    file.fd = Descriptor(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.fd) return;
  }
  file.inode = inode;
  if (other || size < file.offset) reset(file, size);
}

void Followers::send_chunk(Followed& file) {
  if (!file.fd) return;
  std::string bytes(kChunk, '\0');
  const ssize_t got = ::pread(file.fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(file.offset));
  if (got <= 0) return;
  bytes.resize(static_cast<size_t>(got));
  send_("file.data", {{"id", file.id}, {"offset", file.offset}, {"data", base64(bytes)}});
  file.offset += bytes.size();
  file.changed = true;  // until a read finds nothing more
  file.earliest = bytes.size() == kChunk ? 0 : monotonic_seconds() + kGatherPeriod;
}

bool Followers::pump() {
  const double now = monotonic_seconds();
  bool more = false;
  for (auto& [id, file] : files_) {
    if (now < (file->changed ? file->earliest : file->next_look)) continue;
    file->changed = false;
    look(*file);
    send_chunk(*file);
    file->next_look = now + (file->watch >= 0 ? kWatchedPeriod : kUnwatchedPeriod);
    more = more || (file->changed && file->earliest == 0);
  }
  return more;
}

int Followers::patience_ms() const {
  if (files_.empty()) return -1;
  double next = 1e18;
  for (const auto& [id, file] : files_) next = std::min(next, file->changed ? file->earliest : file->next_look);
  return std::clamp(static_cast<int>((next - monotonic_seconds()) * 1000) + 1, 0, 1000);
}

}  // namespace trainyard
