#include "agent/ranks/doing.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/ranks/thread_look.h"
#include "agent/ranks/trainer_note.h"

namespace trainyard {

namespace {

constexpr size_t kMostThreads = 256;  // to look at, of one process
constexpr size_t kMostPath = 100;     // bytes; of a longer one the end tells more
constexpr double kBusy = 0.5;         // processors of threads for which the first one waits
constexpr int kMostChildren = 4;      // a program that a shell started, which another shell started

/// What a thread waits for, as far as that decides which thread to tell of.
enum class Wait {
  none,    ///< it runs, is stopped or is gone
  disk,    ///< or a lock or driver that nobody can interrupt
  child,   ///< a process that it started
  other,   ///< somebody else, whoever that is
  unclear  ///< another thread, an event, a time: perhaps another thread shows for what
};

/// "HEAD: WHO CLAUSE"; no clause where the head says it all.
struct Phrase {
  Wait wait = Wait::none;
  std::string head;
  std::string clause;
};

/// How a system call names what it is about.
enum class Names { descriptor, path };

struct FileCall {
  long number;
  const char* does;
  Names names;
  size_t argument;
};

constexpr auto kFileCalls = std::to_array<FileCall>({
    {SYS_read, "reads", Names::descriptor, 0},
    {SYS_pread64, "reads", Names::descriptor, 0},
    {SYS_readv, "reads", Names::descriptor, 0},
    {SYS_preadv, "reads", Names::descriptor, 0},
    {SYS_copy_file_range, "reads", Names::descriptor, 0},
    {SYS_sendfile, "reads", Names::descriptor, 1},
    {SYS_write, "writes", Names::descriptor, 0},
    {SYS_pwrite64, "writes", Names::descriptor, 0},
    {SYS_writev, "writes", Names::descriptor, 0},
    {SYS_pwritev, "writes", Names::descriptor, 0},
    {SYS_fsync, "flushes", Names::descriptor, 0},
    {SYS_fdatasync, "flushes", Names::descriptor, 0},
    {SYS_sync_file_range, "flushes", Names::descriptor, 0},
    {SYS_fallocate, "allocates space in", Names::descriptor, 0},
    {SYS_ftruncate, "changes", Names::descriptor, 0},
    {SYS_getdents64, "lists", Names::descriptor, 0},
    {SYS_fstat, "looks at", Names::descriptor, 0},
    {SYS_flock, "waits for a lock of", Names::descriptor, 0},
    {SYS_fcntl, "waits for a lock of", Names::descriptor, 0},
    {SYS_close, "closes", Names::descriptor, 0},
    {SYS_ioctl, "calls the driver of", Names::descriptor, 0},
    {SYS_recvfrom, "receives from", Names::descriptor, 0},
    {SYS_recvmsg, "receives from", Names::descriptor, 0},
    {SYS_sendto, "sends to", Names::descriptor, 0},
    {SYS_sendmsg, "sends to", Names::descriptor, 0},
    {SYS_connect, "connects", Names::descriptor, 0},
    {SYS_accept, "waits for a connection to", Names::descriptor, 0},
    {SYS_accept4, "waits for a connection to", Names::descriptor, 0},
    {SYS_openat, "opens", Names::path, 1},
    {SYS_newfstatat, "looks at", Names::path, 1},
    {SYS_statx, "looks at", Names::path, 1},
    {SYS_faccessat, "looks at", Names::path, 1},
    {SYS_readlinkat, "looks at", Names::path, 1},
    {SYS_mkdirat, "makes", Names::path, 1},
    {SYS_unlinkat, "removes", Names::path, 1},
    {SYS_renameat2, "renames", Names::path, 1},
#ifdef SYS_open  // of x86-64 alone
    {SYS_open, "opens", Names::path, 0},
    {SYS_stat, "looks at", Names::path, 0},
    {SYS_lstat, "looks at", Names::path, 0},
    {SYS_access, "looks at", Names::path, 0},
    {SYS_readlink, "looks at", Names::path, 0},
    {SYS_mkdir, "makes", Names::path, 0},
    {SYS_unlink, "removes", Names::path, 0},
    {SYS_rename, "renames", Names::path, 0},
#endif
    {SYS_statfs, "looks at", Names::path, 0},
});

/// A call that waits for no file; `wait` is a part of the kernel's names for that wait, for where
/// calls may not be read.
struct PlainCall {
  long number;
  std::string_view wait;
  Phrase phrase;
};

const std::vector<PlainCall>& plain_calls() {
  static const Phrase futex{Wait::unclear, "sleeps in futex_wait", "waits for another thread"};
  static const Phrase events{Wait::unclear, "sleeps in poll", "waits for events of sockets or pipes"};
  static const Phrase pause{Wait::unclear, "sleeps in nanosleep", "lets a time pass"};
  static const Phrase child{Wait::child, "waits for a process that it started", ""};
  static const Phrase signal{Wait::unclear, "waits for a signal", ""};
  static const std::vector<PlainCall> calls{
      {SYS_futex, "futex", futex},
      {SYS_ppoll, "poll", events},
      {SYS_pselect6, "do_select", events},
      {SYS_epoll_pwait, "ep_poll", events},
#ifdef SYS_poll  // of x86-64 alone
      {SYS_poll, "poll", events},
      {SYS_select, "do_select", events},
      {SYS_epoll_wait, "ep_poll", events},
#endif
      {SYS_nanosleep, "nanosleep", pause},
      {SYS_clock_nanosleep, "nanosleep", pause},
      {SYS_wait4, "do_wait", child},
      {SYS_waitid, "do_wait", child},
      {SYS_rt_sigtimedwait, "sigtimedwait", signal},
  };
  return calls;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Whether somebody elsewhere has to answer before such a file can be read: only then its type
/// tells people something.
bool is_far(const std::string& file_system) {
  constexpr auto kFar = std::to_array<std::string_view>(
      {"nfs", "fuse", "cifs", "smb", "ceph", "lustre", "gpfs", "beegfs", "9p", "virtiofs", "afs", "gluster", "ocfs2"});
  return std::ranges::any_of(kFar, [&file_system](std::string_view one) { return file_system.starts_with(one); });
}

std::string end_of(const std::string& path) {
  if (path.size() <= kMostPath) return path;
  size_t begin = path.size() - kMostPath;
  while (begin < path.size() && (static_cast<unsigned char>(path[begin]) & 0xC0U) == 0x80U) ++begin;
  return "..." + path.substr(begin);
}

Phrase about_file(const std::string& does, const NamedFile& file, const std::string& wait) {
  const std::string of = does + " " + end_of(file.path);
  if (file.path.starts_with("socket:")) return {Wait::other, "waits for the network", does + " a socket"};
  if (file.path.starts_with("pipe:")) return {Wait::other, "waits for another process", does + " a pipe"};
  if (has(wait, "pipe") || has(wait, "wait_for_partner")) {  // one with a name
    return {Wait::other, "waits for another process", of + " (a pipe)"};
  }
  if (file.path.starts_with("/dev/")) return {Wait::other, "waits for a device", of};
  if (file.path.starts_with("anon_inode:")) return {Wait::unclear, "waits for an event", of};
  return {Wait::disk, "waits for the disk", of + (is_far(file.file_system) ? " (" + file.file_system + ")" : "")};
}

std::optional<Phrase> of_call(int pid, const ThreadLook& look) {
  for (const FileCall& one : kFileCalls) {
    if (look.call != one.number) continue;
    const uint64_t argument = look.arguments.at(one.argument);
    const auto file = one.names == Names::path ? file_named_at(pid, argument) : file_behind(pid, argument);
    if (file) return about_file(one.does, *file, look.wait);
    if (one.names == Names::path) return Phrase{Wait::disk, "waits for the disk", std::string(one.does) + " a file"};
  }
  for (const PlainCall& one : plain_calls()) {
    if (look.call == one.number) return one.phrase;
  }
  return std::nullopt;
}

/// Where the call may not be read, the kernel's function often tells what kind of wait it is.
std::optional<Phrase> of_wait(const std::string& wait) {
  for (const PlainCall& one : plain_calls()) {
    if (has(wait, one.wait)) return one.phrase;
  }
  if (has(wait, "pipe")) return Phrase{Wait::other, "waits for another process", "reads or writes a pipe"};
  if (has(wait, "wait_data") || has(wait, "wait_for_more_packets") || has(wait, "unix_stream")) {
    return Phrase{Wait::other, "waits for the network", "receives from a socket"};
  }
  return std::nullopt;
}

Phrase of_thread(int pid, const ThreadLook& look) {
  const std::string where = look.wait.empty() ? "" : " (" + look.wait + ")";
  if (look.state == 'T') return {Wait::none, "is stopped by a signal (SIGSTOP or a debugger)", ""};
  if (look.state == 't') return {Wait::none, "is stopped by a debugger", ""};
  if (look.state == 'Z' || look.state == 'X' || look.state == '?') return {Wait::none, "has ended", ""};
  if (look.state == 'R') return {Wait::none, "computes or polls", ""};
  if (const auto known = of_call(pid, look)) return *known;
  if (look.state == 'D') {
    if (look.call == -1) return {Wait::disk, "waits for the disk", "needs a page of memory from it" + where};
    return {Wait::disk, "is in an uninterruptible wait" + where, ""};
  }
  if (const auto guessed = of_wait(look.wait)) return *guessed;
  return {Wait::unclear, where.empty() ? "sleeps" : "sleeps in the kernel" + where, ""};
}

std::string cores(double busy) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f cores", busy);
  return text.data();
}

/// The phrase of a thread that waits for the disk, where there is one: all others wait for it, or
/// for nothing that can be told.
std::optional<Phrase> of_other_threads(int pid) {
  std::optional<Phrase> found;
  for (const int thread : threads_of(pid, kMostThreads)) {
    if (thread == pid) continue;
    const ThreadLook look = look_at_thread(pid, thread);
    const Phrase phrase = of_thread(pid, look);
    if (phrase.wait != Wait::disk) continue;
    if (!found || look.state == 'D') found = phrase;
    if (look.state == 'D') break;
  }
  return found;
}

struct Told {
  Phrase phrase;
  const char* who = "it";
};

Told told_of(int pid, double busy) {
  const ThreadLook first = look_at_thread(pid, pid);
  Phrase phrase = of_thread(pid, first);
  if (first.state == 'R' && busy > 0) phrase.head += " (" + cores(busy) + ")";
  if (phrase.wait != Wait::unclear) return {phrase};
  if (const auto other = of_other_threads(pid)) return {*other, "a thread of it"};
  if (busy < kBusy) return {phrase};
  return {{Wait::none, "waits for its other threads, which compute or poll (" + cores(busy) + ")", ""}};
}

std::string followed(int pid, double busy, int most_children) {
  const auto& [phrase, who] = told_of(pid, busy);
  const std::string clause = phrase.clause.empty() ? "" : std::string(who) + " " + phrase.clause;
  // Why a trainer waits it knows better.
  if (const std::string note = trainer_note(pid); !note.empty()) {
    return note + ": " + (clause.empty() ? "it " + phrase.head : clause);
  }
  const int child = phrase.wait == Wait::child && most_children > 0 ? first_child_of(pid) : 0;
  if (child > 0) return "waits for its process " + name_of(child) + ", which " + followed(child, 0, most_children - 1);
  return clause.empty() ? phrase.head : phrase.head + ": " + clause;
}

}  // namespace

std::string doing_of(int pid, double busy) { return short_phrase(followed(pid, busy, kMostChildren)); }

std::string short_phrase(const std::string& text) {
  std::string phrase = text;
  if (phrase.size() > kMostDoing) {
    size_t end = kMostDoing - 3;
    while (end > 0 && (static_cast<unsigned char>(phrase[end]) & 0xC0U) == 0x80U) --end;
    phrase = phrase.substr(0, end) + "...";
  }
  std::ranges::replace_if(phrase, [](unsigned char one) { return one < 0x20 || one == 0x7F; }, '?');
  return phrase;
}

}  // namespace trainyard
