// What a process does, in one phrase for people, as far as the kernel tells another process of the
// same user.
#pragma once
#include <cstddef>
#include <string>

namespace trainyard {

inline constexpr size_t kMostDoing = 200;  ///< bytes of a phrase

/// Such as "waits for the disk: it reads /mnt/images/train-00012 (nfs4)" or "is stopped by a signal
/// (SIGSTOP or a debugger)"; its subject is the process. `busy`: processors that it used of late.
/// Empty where nothing can be said.
std::string doing_of(int pid, double busy);

/// At most kMostDoing bytes of a text, with none that a terminal would take for a command.
std::string short_phrase(const std::string& text);

}  // namespace trainyard
