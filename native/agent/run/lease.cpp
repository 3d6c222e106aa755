#include "agent/run/lease.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "agent/messages/rpc_error.h"
#include "agent/run/run_state.h"
#include "agent/system/clock.h"
#include "agent/system/kill.h"
#include "common/error.h"

namespace trainyard {

namespace {

constexpr double kGuardSeconds = 15;  // for the guard of a dead supervisor to sweep

/// ext2 to ext4, XFS, Btrfs, tmpfs, F2FS, ZFS, overlayfs: what one kernel alone writes to
/// (linux/magic.h).
constexpr std::array<unsigned long, 7> kOwnDisks{0xEF53,     0x58465342, 0x9123683E, 0x01021994,
                                                 0xF2F52010, 0x2FC12FC1, 0x794C7630};

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Seconds since state.json was written, by the clock of the file system, which is one for all
/// hosts: a file is touched to learn what time it is there. Where nothing may be written, by this
/// host's clock.
double state_age(const RunFolder& folder, const Json& state) {
  const Descriptor lock(::open(folder.lock().c_str(), O_RDWR | O_CLOEXEC));
  const std::array<timespec, 2> now{{{0, UTIME_NOW}, {0, UTIME_NOW}}};
  struct stat touched{}, written{};
  if (lock && ::futimens(lock.get(), now.data()) == 0 && ::fstat(lock.get(), &touched) == 0 &&
      ::stat(folder.state().c_str(), &written) == 0) {
    return seconds_of(touched.st_mtim) - seconds_of(written.st_mtim);
  }
  return now_seconds() - state.value("updated", 0.0);
}

bool try_lock(const Descriptor& fd) { return ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0; }

bool lock_is_free(const RunFolder& folder) {
  const Descriptor lock(::open(folder.lock().c_str(), O_RDWR | O_CLOEXEC));
  return !lock || try_lock(lock);
}

bool is_final(const Json& state) {
  const auto phase = state.find("phase");
  return phase != state.end() && phase->is_string() && is_final_phase(phase->get<std::string>());
}

std::string host_of(const Json& state) {
  const auto supervisor = state.find("supervisor");
  if (supervisor == state.end() || !supervisor->is_object()) return "";
  const auto host = supervisor->find("host");
  return host != supervisor->end() && host->is_string() ? host->get<std::string>() : "";
}

Descriptor claim_of(const RunFolder& folder) {
  Descriptor fd(::open(folder.dir().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) throw file_error("open", folder.dir());
  if (!try_lock(fd) && errno == EWOULDBLOCK) {
    throw RpcError(RpcCode::bad_state,
                   "another launch in " + folder.dir() + ", or its deletion, is under way. Attach to that run");
  }
  return fd;  // where folders cannot be locked (some network file systems), the supervisor's lock alone decides
}

}  // namespace

Disk disk_of(const std::string& path) {
  struct statfs info{};
  if (::statfs(path.c_str(), &info) != 0) return Disk::shared;
  const auto type = static_cast<unsigned long>(info.f_type) & 0xFFFFFFFFUL;
  return std::find(kOwnDisks.begin(), kOwnDisks.end(), type) != kOwnDisks.end() ? Disk::own : Disk::shared;
}

Supervision supervision(const RunFolder& folder, const std::optional<Json>& state, Disk disk) {
  using Kind = Supervision::Kind;
  if (!state) return {};
  const std::string host = host_of(*state);
  if (is_final(*state)) return {Kind::over, host};
  if (recorded_supervisor(*state)) return {supervisor_lives(*state) ? Kind::here : Kind::nobody, host};
  const bool fresh = std::abs(state_age(folder, *state)) <= kLeaseSeconds;
  if (!fresh || (disk == Disk::own && lock_is_free(folder))) return {Kind::nobody, host};
  return {Kind::elsewhere, host};
}

Supervision supervision(const RunFolder& folder) {
  return supervision(folder, read_json_object(folder.state()), disk_of(folder.dir()));
}

std::string under_way(const RunFolder& folder, const std::optional<Json>& state) {
  std::string text = "a run in " + folder.dir() + " is under way";
  if (state) {
    const std::string host = host_of(*state);
    if (!host.empty()) text += " on " + host;
    if (const auto pid = recorded_supervisor(*state)) text += ", supervised by process " + std::to_string(pid->pid);
  }
  return text + ". Attach to it, or stop it first";
}

namespace {

/// Whether the file is there and its disk gives its bytes, or is certainly not there. Says nothing
/// of what is in it. errno says why not.
bool can_read(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return errno == ENOENT || errno == ENOTDIR;
  char first = 0;
  return ::read(fd.get(), &first, 1) >= 0;
}

}  // namespace

FolderHold::FolderHold(const RunFolder& folder, Disk disk)
    : folder_(folder), disk_(disk), claim_(claim_of(folder)), begun_(monotonic_seconds()) {}

bool FolderHold::step() {
  const auto state = read_json_object(folder_.state());
  if (!state && !can_read(folder_.state())) {
    if (monotonic_seconds() - begun_ <= kLeaseSeconds) return false;
    throw RpcError(RpcCode::bad_state,
                   folder_.state() + " cannot be read: " + std::strerror(errno) + ". Try again once its disk answers");
  }
  const Supervision now = supervision(folder_, state, disk_);
  const auto refuse = [&] { throw RpcError(RpcCode::bad_state, under_way(folder_, state)); };
  if (now.kind == Supervision::Kind::here) refuse();
  if (!lock_) {
    Descriptor lock(::open(folder_.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock) throw file_error("open", folder_.lock());
    if (!try_lock(lock) && errno == EWOULDBLOCK) {
      // A supervisor that is about to end, or the guard of a dead one: both let go soon. One whose
      // run is over may still wait for a disk or for the mirror; it leaves when it is asked to.
      const auto last = state ? recorded_supervisor(*state) : std::nullopt;
      if (now.kind == Supervision::Kind::over && last && is_alive(*last)) signal_process(*last, SIGTERM);
      if (now.kind == Supervision::Kind::elsewhere || monotonic_seconds() - begun_ > kGuardSeconds) refuse();
      return false;
    }
    lock_ = std::move(lock);
    return false;  // the state is read again under the lock
  }
  const bool other_boot = state && !recorded_supervisor(*state);
  if (now.kind == Supervision::Kind::over || !other_boot || disk_ == Disk::own) return true;
  const Json updated = state->value("updated", Json(nullptr));
  if (!first_) {
    first_ = updated;
    begun_ = monotonic_seconds();
  }
  if (*first_ != updated) refuse();  // by change seen, whatever the clocks of the two hosts say
  return monotonic_seconds() - begun_ > kLeaseSeconds;
}

}  // namespace trainyard
