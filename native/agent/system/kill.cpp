#include "agent/system/kill.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>

#include "agent/system/clock.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

/// Numbers of x86-64 that glibc 2.28's headers do not name; kernels before 5.3 answer ENOSYS.
constexpr long kPidfdSendSignal = 424;
constexpr long kPidfdOpen = 434;

std::vector<int> all_pids() {
  std::vector<int> pids;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return pids;
  while (const dirent* entry = ::readdir(folder)) {
    const int pid = std::atoi(entry->d_name);
    if (pid > 1) pids.push_back(pid);
  }
  ::closedir(folder);
  return pids;
}

std::string proc_text(int pid, const char* name) {
  try {
    return read_file("/proc/" + std::to_string(pid) + "/" + name);
  } catch (const Error&) {
    return "";  // gone, or not ours
  }
}

std::string process_name(int pid) {
  std::string name = proc_text(pid, "comm");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name.empty() ? "process" : name;
}

int parent_of(int pid) {
  const std::string text = proc_text(pid, "stat");
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= text.size()) return 0;
  return std::atoi(text.c_str() + name_end + 4);  // ") S 123 …"
}

bool belongs_to_us(int pid) {
  struct stat info{};
  return ::stat(("/proc/" + std::to_string(pid)).c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

bool holds_entry(const std::string& environment, const std::string& entry) {
  for (size_t at = 0; (at = environment.find(entry, at)) != std::string::npos; ++at) {
    const bool begins = at == 0 || environment[at - 1] == '\0';
    const size_t end = at + entry.size();
    if (begins && (end == environment.size() || environment[end] == '\0')) return true;
  }
  return false;
}

bool contains(const std::vector<NamedProcess>& all, int pid) {
  return std::any_of(all.begin(), all.end(), [pid](const NamedProcess& one) { return one.process.pid == pid; });
}

}  // namespace

bool signal_process(const ProcessId& process, int signal) {
  if (process.pid <= 1) return false;
  const Descriptor held(static_cast<int>(::syscall(kPidfdOpen, process.pid, 0)));
  if (!is_alive(process)) return false;
  // With the descriptor the process cannot change between the check above and the signal.
  if (held) return ::syscall(kPidfdSendSignal, held.get(), signal, nullptr, 0) == 0;
  return ::kill(process.pid, signal) == 0;
}

std::vector<NamedProcess> find_marked(const std::string& run_dir, const std::set<int>& spared) {
  return find_by_environment(std::string(kRunVariable) + "=" + run_dir, spared);
}

std::vector<NamedProcess> find_marked_except(const std::string& run_dir, const std::function<std::set<int>()>& spared) {
  std::vector<NamedProcess> found = find_marked(run_dir, {});
  const std::set<int> kept = spared();
  std::erase_if(found, [&kept](const NamedProcess& one) { return kept.contains(one.process.pid); });
  return found;
}

std::vector<NamedProcess> find_by_environment(const std::string& entry, const std::set<int>& spared) {
  std::vector<NamedProcess> found;
  for (const int pid : all_pids()) {
    if (pid == ::getpid() || spared.contains(pid) || !belongs_to_us(pid)) continue;
    const std::optional<uint64_t> start = process_start_time(pid);
    const std::string environment = proc_text(pid, "environ");
    if (!start || !holds_entry(environment, entry) || holds_entry(environment, kTerminalEntry)) continue;
    found.push_back({{pid, *start}, process_name(pid)});
  }
  return found;
}

std::map<std::string, std::vector<NamedProcess>> find_all_marked(const std::string& runs) {
  const std::string begin = std::string(kRunVariable) + "=" + runs + "/";
  std::map<std::string, std::vector<NamedProcess>> found;
  for (const int pid : all_pids()) {
    if (pid == ::getpid() || !belongs_to_us(pid)) continue;
    const std::optional<uint64_t> start = process_start_time(pid);
    const std::string environment = '\0' + proc_text(pid, "environ") + '\0';
    const size_t at = environment.find('\0' + begin);
    if (!start || at == std::string::npos || holds_entry(environment, kTerminalEntry)) continue;
    const size_t name = at + 1 + begin.size();
    const std::string id = environment.substr(name, environment.find('\0', name) - name);
    if (!id.empty() && id.find('/') == std::string::npos) {
      found[runs + "/" + id].push_back({{pid, *start}, process_name(pid)});
    }
  }
  return found;
}

std::vector<NamedProcess> find_descendants(int ancestor, const std::set<int>& spared) {
  std::map<int, std::vector<int>> children;
  for (const int pid : all_pids()) children[parent_of(pid)].push_back(pid);
  std::vector<NamedProcess> found;
  std::vector<int> pending{ancestor};
  while (!pending.empty()) {
    const int parent = pending.back();
    pending.pop_back();
    for (const int child : children[parent]) {
      if (spared.contains(child)) continue;
      pending.push_back(child);
      if (const auto start = process_start_time(child)) found.push_back({{child, *start}, process_name(child)});
    }
  }
  return found;
}

bool Sweep::step() {
  left_ = finder_();
  // The supervisor first (it is recorded last): it would otherwise see its ranks fail and act on
  // it.
  for (auto one = left_.rbegin(); one != left_.rend(); ++one) {
    if (signal_process(one->process, SIGKILL) && !contains(killed_, one->process.pid)) killed_.push_back(*one);
  }
  empty_rounds_ = left_.empty() ? empty_rounds_ + 1 : 0;
  return empty_rounds_ >= 2;
}

bool Sweep::run(double seconds) {
  const double deadline = monotonic_seconds() + seconds;
  while (!step()) {
    if (monotonic_seconds() >= deadline) return false;
    sleep_ms(30);
  }
  return true;
}

}  // namespace trainyard
