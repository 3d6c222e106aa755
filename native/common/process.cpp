#include "common/process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <sstream>

#include "common/files.h"

namespace trainyard {

std::optional<uint64_t> process_start_time(int pid) {
  std::string text;
  const Descriptor fd(::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;  // no such process, or errno says why it could not be looked at
  std::array<char, 1024> bytes{};
  const ssize_t got = ::read(fd.get(), bytes.data(), bytes.size());
  errno = 0;
  if (got <= 0) return std::nullopt;  // it ended meanwhile
  text.assign(bytes.data(), static_cast<size_t>(got));
  const size_t name_end = text.rfind(')');  // the name may itself hold blanks and brackets
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state;
  fields >> state;
  if (state == "Z" || state == "X") return std::nullopt;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  uint64_t start = 0;
  if (!(fields >> start)) return std::nullopt;
  return start;
}

bool is_alive(const ProcessId& process) {
  if (process.pid <= 0) return false;
  const std::optional<uint64_t> start = process_start_time(process.pid);
  if (start) return start == process.start_time;
  // Without a descriptor left nothing of it can be read. That there is such a process is then all
  // that can be said.
  const bool cannot_look = errno == EMFILE || errno == ENFILE;
  return cannot_look && ::kill(process.pid, 0) == 0;
}

std::string boot_id() {
  std::string id = read_file("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

std::string host_name() {
  const char* given = std::getenv("TRAINYARD_HOST");
  if (given != nullptr && given[0] != '\0') return given;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

double now_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace trainyard
