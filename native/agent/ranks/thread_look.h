// What the kernel says of a thread that it has put to sleep, to a process of the same user. Nothing
// here waits for a disk, nor for the memory of the process that is looked at.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

struct ThreadLook {
  char state = '?';  ///< as in /proc/PID/stat; '?' when it is gone
  std::string wait;  ///< the function of the kernel that it waits in (wchan); empty: not known
  /// The system call that it is in; -1: it waits, but not for a call (a page of memory). Nothing
  /// where it runs, or where this process may not trace the other.
  std::optional<long> call;
  std::array<uint64_t, 6> arguments{};
};

/// The thread's state alone: one file is read.
char state_of(int pid, int thread);
ThreadLook look_at_thread(int pid, int thread);

/// Of a process, the first one first; no more than `most`.
std::vector<int> threads_of(int pid, size_t most);
/// A process that the main thread of another started and that is its first now; 0: there is none.
int first_child_of(int pid);
/// The name of a program, as `ps` shows it.
std::string name_of(int pid);

struct NamedFile {
  std::string path;         ///< or "pipe:[7]", "socket:[7]", "anon_inode:[eventfd]"
  std::string file_system;  ///< its type, as "nfs4"; empty: not known
};

/// What is behind a descriptor of a process.
std::optional<NamedFile> file_behind(int pid, uint64_t descriptor);
/// The path at an address of a process, as it was given to a system call.
std::optional<NamedFile> file_named_at(int pid, uint64_t address);

}  // namespace trainyard
