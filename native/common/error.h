// Errors that reach a person: what happened, what to do, and the exit code that docs/contracts.md gives it.
#pragma once
#include <stdexcept>
#include <string>

namespace trainyard {

enum class Exit : int { ok = 0, internal = 1, usage = 2, data = 3, device = 4, stopped = 75 };

/// Thrown for anything a user can act on. `what()` reads "WHAT. WHAT TO DO." in one line.
class Error : public std::runtime_error {
 public:
  Error(Exit code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Exit code() const { return code_; }

 private:
  Exit code_;
};

/// "PATH: strerror(errno)", for messages about files.
std::string errno_message(const std::string& path);

/// Exit::data for a file operation that failed with the current errno.
Error file_error(const std::string& action, const std::string& path);

}  // namespace trainyard
