#include "agent/ranks/prologue.h"

namespace trainyard {

namespace {

// $0 is a name for the shell's own messages, $1 who the program is for, $2 the prologue, $3 the
// Python environment, the rest the program. The output is in the log at once. The trap reads it
// there, since its end belongs to the error, without the line ends and full stops behind it.
constexpr const char* kScript = R"sh(trainyard_who=$1 trainyard_prologue=$2 trainyard_environment=$3
shift 3
trainyard_command=("$@")
set --
trainyard_begin=$(stat -L -c %s "/proc/$$/fd/1")
trainyard_failed() {
  trainyard_code=$?
  set +eu
  trainyard_said=$(tail -c "+$((trainyard_begin + 1))" "/proc/$$/fd/1" | tail -n 5 | tr '\n\r\t' '   ' | tail -c 600)
  trainyard_said=${trainyard_said%"${trainyard_said##*[![:space:].]}"}
  printf '\nagent: error: %s: the prologue "%s" failed with exit code %s: %s. Correct it in the profile\n' \
    "$trainyard_who" "$(printf %s "$trainyard_prologue" | tr '\n\r' '  ')" "$trainyard_code" \
    "${trainyard_said:-it said nothing}" >&2
  exit 4
}
trap trainyard_failed EXIT
eval "$trainyard_prologue" || exit
trap - EXIT
if [ -n "$trainyard_environment" ]; then
  export VIRTUAL_ENV="$trainyard_environment" PATH="$trainyard_environment/bin:$PATH"
  unset PYTHONHOME
fi
if ! type -P -- "${trainyard_command[0]}" > /dev/null; then
  printf "\nagent: error: %s: cannot start '%s': after the prologue it is not there, or cannot be executed. %s\n" \
    "$trainyard_who" "${trainyard_command[0]}" 'Install it on that node, or name its whole path' >&2
  exit 4
fi
exec -- "${trainyard_command[@]}"
)sh";

}  // namespace

std::vector<std::string> with_prologue(const std::string& prologue, const std::string& who,
                                       const std::string& environment, const std::vector<std::string>& command) {
  if (prologue.empty()) return command;
  std::vector<std::string> line{"bash", "-l", "-c", kScript, "trainyard", who, prologue, environment};
  line.insert(line.end(), command.begin(), command.end());
  return line;
}

}  // namespace trainyard
