#include "agent/ranks/debugged.h"

#include <cstdio>
#include <fstream>

namespace trainyard {

namespace {

constexpr int kMost = 1 << 20;  // ranks, and words of a command

/// Its words: who speaks, the port, and what debugpy is to run. A script has its own folder first
/// in sys.path, so the current folder, which -c puts there, is taken away.
constexpr const char* kUnderDebugpy = R"py(
import sys
if sys.path[:1] == [''] and not sys.argv[3].startswith('-'):
    del sys.path[0]
try:
    import debugpy
except ImportError as error:
    print(f'\nagent: error: {sys.argv[1]}: {sys.executable} has no debugpy, so no debugger can attach ({error}). '
          f'Install it there: {sys.executable} -m pip install debugpy', file=sys.stderr, flush=True)
    sys.exit(4)
sys.argv = ['debugpy', '--listen', '127.0.0.1:' + sys.argv[2], '--wait-for-client', *sys.argv[3:]]
import runpy
runpy.run_module('debugpy', run_name='__main__', alter_sys=True)
)py";

/// A script that pip installed names its interpreter in its first line. Where that is a shell, as
/// for a long path, the interpreter is beside the script. Its words: the Python text above, who
/// speaks, the port, the script's name and its arguments.
constexpr const char* kByItsInterpreter = R"sh(
under=$1 who=$2 port=$3 name=$4
shift 4
script=$(command -v -- "$name") || script=
if [ ! -f "$script" ] || [ ! -r "$script" ]; then
  printf "\nagent: error: %s: cannot start '%s': it is not there, or cannot be read. %s\n" \
    "$who" "$name" 'Install it on that node, or name its whole path' >&2
  exit 4
fi
IFS= read -r first < "$script"
case $first in
  '#!'*python*) interpreter=${first#??} ;;
  *) interpreter=${script%/*}/python3 ;;
esac
set -f
exec $interpreter -Xfrozen_modules=off -c "$under" "$who" "$port" "$script" "$@"
)sh";

}  // namespace

std::optional<DebugSpec> debug_of(const Json& program, int rank) {
  if (!program.is_object()) return std::nullopt;
  const Json* given = Fields(program, "program").find("debug");
  if (given == nullptr) return std::nullopt;
  const DebugSpec debug = parse_debug(Fields(*given, "program.debug"), kMost, kMost);
  return debug.rank == rank ? std::optional(debug) : std::nullopt;
}

std::vector<std::string> debugged(const std::vector<std::string>& command, const DebugSpec& debug,
                                  const std::string& who, int port) {
  if (debug.target >= static_cast<int>(command.size())) {
    throw FieldError("program.debug.target is " + std::to_string(debug.target) + ", and the command has " +
                     std::to_string(command.size()) + " words");
  }
  const auto target = command.begin() + debug.target;
  std::vector<std::string> line(command.begin(), target);
  if (debug.script) {
    line.insert(line.end(), {"sh", "-c", kByItsInterpreter, "trainyard", kUnderDebugpy});
  } else {
    // Frozen modules have no lines to stop at, and debugpy warns of them.
    line.insert(line.end(), {"-Xfrozen_modules=off", "-c", kUnderDebugpy});
  }
  line.insert(line.end(), {who, std::to_string(port)});
  line.insert(line.end(), target, command.end());
  return line;
}

bool listens_on_loopback(int port) {
  char wanted[32];
  std::snprintf(wanted, sizeof wanted, "0100007F:%04X", static_cast<unsigned>(port));
  std::ifstream table("/proc/self/net/tcp");
  std::string slot, local, remote, state, rest;
  while (table >> slot >> local >> remote >> state && std::getline(table, rest)) {
    if (local == wanted && state == "0A") return true;
  }
  return false;
}

}  // namespace trainyard
