#include "common/process.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <sstream>

#include "common/error.h"
#include "common/files.h"

namespace trainyard {

std::optional<uint64_t> process_start_time(int pid) {
  std::string text;
  try {
    text = read_file("/proc/" + std::to_string(pid) + "/stat");
  } catch (const Error&) {
    return std::nullopt;  // no such process
  }
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
  return process.pid > 0 && process_start_time(process.pid) == process.start_time;
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
