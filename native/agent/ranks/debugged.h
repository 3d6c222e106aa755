// A rank that a debugger is to reach: an own program in Python, started under debugpy, which waits
// until somebody attaches (docs/contracts/programs.md, A debugger).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "agent/messages/json.h"
#include "agent/run/folder/run_spec.h"

namespace trainyard {

/// Where a debugger finds a rank.
struct DebugPlace {
  int port = 0;        ///< of 127.0.0.1 on the rank's host
  std::string folder;  ///< there, in which the program starts
};

/// Of a description by program_description(), where it names this rank. Throws FieldError.
std::optional<DebugSpec> debug_of(const Json& program, int rank);

/// The command line that starts `command` under debugpy, which listens on `port` of 127.0.0.1 and
/// waits. The words before `debug.target` stay: the interpreter with its options, or, of an
/// installed script, what stands before its name. Where the interpreter has no debugpy it ends with
/// exit code 4, after an error line that begins with `who`. Throws FieldError where `command` has
/// no such word.
std::vector<std::string> debugged(const std::vector<std::string>& command, const DebugSpec& debug,
                                  const std::string& who, int port);

/// Whether something on this machine listens on this port of 127.0.0.1. Nothing is connected to.
bool listens_on_loopback(int port);

}  // namespace trainyard
