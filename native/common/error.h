// Errors that reach a person: what happened, what to do, and the exit code that docs/contracts.md
// gives it.
#pragma once
#include <stdexcept>
#include <string>

namespace trainyard {

enum class Exit : int { ok = 0, internal = 1, usage = 2, data = 3, device = 4, stopped = 75 };

/// Whether the same command, started again, may fare better: a network disk that was away for a
/// moment, a GPU that met an error of its memory. Missing files, a wrong flag and a loss that is no
/// number stay as they are.
enum class Retry { pointless, worthwhile };

/// Of an error that says nothing of it: a defect of ours may be one of timing, all else is the
/// user's to mend.
inline constexpr Retry default_retry(Exit code) {
  return code == Exit::internal ? Retry::worthwhile : Retry::pointless;
}

/// Thrown for anything a user can act on. `what()` reads "WHAT. WHAT TO DO." in one line.
class Error : public std::runtime_error {
 public:
  Error(Exit code, const std::string& message) : Error(code, message, default_retry(code)) {}
  Error(Exit code, const std::string& message, Retry retry) : std::runtime_error(message), code_(code), retry_(retry) {}
  Exit code() const { return code_; }
  Retry retry() const { return retry_; }

 private:
  Exit code_;
  Retry retry_;
};

/// Whether a call that failed with this errno may work later: worthwhile for a disk or a network
/// that fails (EIO, ESTALE, ETIMEDOUT, …), pointless for what stays (ENOENT, EACCES, ENOSPC, …).
Retry retry_after(int error_number);

/// "PATH: strerror(errno)", for messages about files.
std::string errno_message(const std::string& path);

/// Exit::data for a file operation that failed with the current errno, which decides whether to try
/// again.
Error file_error(const std::string& action, const std::string& path);

}  // namespace trainyard
