#include "agent/system/spawn.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr const char* kUsualPath = "/usr/local/bin:/usr/bin:/bin";

/// What a started process tells its starter: its pid, or why it could not become the program.
struct Report {
  int pid = 0;
  int failure = 0;
};

/// Becomes the command. Only returns when that failed, with errno set.
void become(const Command& command, int report_fd) {
  reset_signals();
  if (!redirect_standard_streams(command.log)) return;
  if (!command.cwd.empty() && ::chdir(command.cwd.c_str()) != 0) return;
  if (command.nice != 0) ::setpriority(PRIO_PROCESS, 0, command.nice);  // a refusal only costs speed
  std::vector<int> kept = command.passed;
  kept.push_back(report_fd);
  close_descriptors_except(kept);
  for (const int fd : command.passed) {
    if (::fcntl(fd, F_SETFD, 0) != 0) return;
  }

  std::vector<std::string> env_lines;
  for (const auto& [name, value] : command.env) env_lines.push_back(name + "=" + value);
  std::vector<char*> argv, env;
  for (const std::string& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& line : env_lines) env.push_back(const_cast<char*>(line.c_str()));
  argv.push_back(nullptr);
  env.push_back(nullptr);
  ::execve(look_up(command.argv.front(), command.env).c_str(), argv.data(), env.data());
}

void send_report(int fd, const Report& report) {
  if (::write(fd, &report, sizeof report) < 0) ::_exit(126);
}

[[noreturn]] void run_child(const Command& command, int report_fd, int parent) {
  if (command.death_signal != 0) {
    ::prctl(PR_SET_PDEATHSIG, command.death_signal);
    if (::getppid() != parent) ::_exit(126);  // the parent ended before the line above
  }
  send_report(report_fd, {::getpid(), 0});
  become(command, report_fd);
  send_report(report_fd, {::getpid(), errno});
  ::_exit(127);
}

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw file_error("make", "a pipe");
  return ends;
}

/// Reads the reports up to the exec (which closes the pipe) or the failure.
ProcessId await_program(int fd, const Command& command) {
  Report report;
  ProcessId process;
  int failure = ECHILD;
  while (::read(fd, &report, sizeof report) == static_cast<ssize_t>(sizeof report)) {
    failure = report.failure;
    process.pid = report.pid;
  }
  if (failure != 0) {
    errno = failure;
    throw file_error("start", command.argv.front());
  }
  process.start_time = process_start_time(process.pid).value_or(0);
  return process;
}

}  // namespace

std::string look_up(const std::string& program, const Environment& env) {
  if (program.find('/') != std::string::npos) return program;
  const auto path = env.find("PATH");
  std::string folders = path == env.end() ? kUsualPath : path->second;
  folders.push_back(':');
  for (size_t begin = 0, end; (end = folders.find(':', begin)) != std::string::npos; begin = end + 1) {
    const std::string candidate = folders.substr(begin, end - begin) + "/" + program;
    if (end > begin && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return program;
}

std::string with_bin_of(const std::string& folder, const std::string& path) {
  return folder + "/bin:" + (path.empty() ? kUsualPath : path);
}

Environment clean_environment() {
  Environment env;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string line = *entry;
    const size_t equals = line.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    bool misleading = false;
    for (const char* prefix : {"TRAINYARD_", "PMI", "HYDRA_", "HYDI_", "MPIEXEC_", "MPI_LOCAL"}) {
      misleading = misleading || line.starts_with(prefix);
    }
    if (!misleading) env[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return env;
}

void close_descriptors_except(int kept, int also_kept) { close_descriptors_except(std::vector<int>{kept, also_kept}); }

void close_descriptors_except(const std::vector<int>& kept) {
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return;
  std::vector<int> open;
  while (const dirent* entry = ::readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    const bool keep = std::find(kept.begin(), kept.end(), fd) != kept.end();
    if (fd > 2 && !keep && fd != ::dirfd(folder)) open.push_back(fd);
  }
  ::closedir(folder);
  for (const int fd : open) ::close(fd);
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);  // KILL and STOP refuse, as they should
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void detach_from_everything(const char* name, int kept, int also_kept) {
  ::setsid();
  ::prctl(PR_SET_NAME, name);
  reset_signals();
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {0, 1, 2}) ::dup2(nothing, stream);
  close_descriptors_except(kept, also_kept);
}

bool redirect_standard_streams(const std::string& log) {
  const int input = ::open("/dev/null", O_RDONLY);
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (input < 0 || output < 0) return false;
  const bool done = ::dup2(input, 0) >= 0 && ::dup2(output, 1) >= 0 && ::dup2(output, 2) >= 0;
  if (input > 2) ::close(input);
  if (output > 2) ::close(output);
  return done;
}

ProcessId start_child(const Command& command) {
  const auto [read_end, write_end] = make_pipe();
  Descriptor reader(read_end), writer(write_end);
  const int parent = ::getpid();
  const int pid = ::fork();
  if (pid < 0) throw file_error("start", command.argv.front());
  if (pid == 0) {
    ::setpgid(0, 0);
    run_child(command, writer.get(), parent);
  }
  writer = Descriptor();
  try {
    return await_program(reader.get(), command);
  } catch (const Error&) {
    ::waitpid(pid, nullptr, 0);
    throw;
  }
}

ProcessId start_detached(const Command& command) {
  const auto [read_end, write_end] = make_pipe();
  Descriptor reader(read_end), writer(write_end);
  const int pid = ::fork();
  if (pid < 0) throw file_error("start", command.argv.front());
  if (pid == 0) {
    ::setsid();
    const int second = ::fork();  // not a session leader, so it can never acquire a terminal
    if (second == 0) run_child(command, writer.get(), 0);
    ::_exit(second < 0 ? 1 : 0);
  }
  writer = Descriptor();
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return await_program(reader.get(), command);
}

}  // namespace trainyard
