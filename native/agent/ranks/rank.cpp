// Two processes stand between mpiexec and the program. The outer one is what mpiexec's proxy knows
// and kills, which it does without warning when any rank calls MPI_Abort; the inner one, in a
// session of its own, survives that just long enough to end the program and to write how it ended.
//
// The outer one stays until every rank of the generation has ended: mpiexec fails when it wants to
// tell a proxy that has ended already of another rank's end, and takes the ranks that still run
// with it. For as long it holds the rank's socket to the proxy open: at the end of one that did not
// finalize MPI, as of any program without MPI, the proxy would read without a pause.
#include "agent/ranks/rank.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "agent/ranks/debugged.h"
#include "agent/ranks/exit_record.h"
#include "agent/ranks/heartbeat.h"
#include "agent/ranks/outcome.h"
#include "agent/ranks/own_program.h"
#include "agent/ranks/prologue.h"
#include "agent/ranks/python_environment.h"
#include "agent/ranks/python_exception.h"
#include "agent/ranks/start_record.h"
#include "agent/run/gpu_pins.h"
#include "agent/run/log_times.h"
#include "agent/system/clock.h"
#include "agent/system/kill.h"
#include "agent/system/paths.h"
#include "agent/system/spawn.h"
#include "common/error.h"
#include "common/files.h"
#include "common/outcome.h"

namespace trainyard {

namespace {

constexpr int kOrphaned = SIGUSR1;   // sent by the kernel to the inner process when the outer one ends
constexpr int kOrphanGraceMs = 700;  // for a program that is already on its way out after MPI_Abort
constexpr int kCannotStart = static_cast<int>(Exit::device);  // what a user must change first: no restart
constexpr int kLookMs = 100;                                  // for the word that every rank has ended
constexpr int kLongestRestMs = 1000;
constexpr double kRecordSeconds = 600;  // as long as the supervisor waits to write how the run ended

int number_from(const char* variable, int fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::atoi(text);
}

/// Reads the command file into the options.
RankOptions with_command(RankOptions options) {
  if (options.command_file.empty()) return options;
  const Json file = parse_json(read_file(options.command_file));
  if (file.is_array()) {
    options.command = file.get<std::vector<std::string>>();
  } else {
    const Fields fields(file, options.command_file);
    options.command = fields.strings("argv");
    const std::string cwd = fields.optional_string("cwd").value_or("");
    if (!cwd.empty()) options.cwd = cwd;
    options.prologue = fields.optional_string("prologue").value_or("");
    if (const Json* program = fields.find("program")) options.program = *program;
  }
  return options;
}

/// Signals arrive through sigwait in both processes; only the started program gets the default
/// behaviour.
sigset_t block_signals() {
  sigset_t handled;
  ::sigemptyset(&handled);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, kOrphaned}) ::sigaddset(&handled, number);
  ::sigprocmask(SIG_BLOCK, &handled, nullptr);
  ::signal(SIGCHLD, SIG_DFL);  // where it is inherited as ignored, nobody learns how a child ended
  return handled;
}

bool is_per_node(const Json& program) { return program.is_object() && program.value("perNode", false); }

/// Of this node's GPUs the one of this rank, which its program then takes for the only one; all of
/// them where it is the node's only process. And what an own program looks for.
void take_environment(const Json& program) {
  const char* gpus = std::getenv(kGpusVariable);
  const int local_rank = number_from("MPI_LOCALRANKID", 0);
  const int rank = number_from("PMI_RANK", 0);
  try {
    auto pinned = pinned_gpu(gpus == nullptr ? "" : gpus, local_rank, number_from("MPI_LOCALNRANKS", 0));
    if (!pinned.empty() && is_per_node(program)) pinned["CUDA_VISIBLE_DEVICES"] = gpus;
    for (const auto& [name, value] : pinned) ::setenv(name.c_str(), value.c_str(), 1);
    if (!program.is_object()) return;
    const auto given = Fields(program, "program").string_map_or_empty("env");
    std::vector<std::string> others;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string line = *entry;
      const std::string name = line.substr(0, line.find('='));
      if (is_of_another_launch(name, is_per_node(program)) && !given.contains(name)) others.push_back(name);
    }
    for (const std::string& name : others) ::unsetenv(name.c_str());
    for (const auto& [name, value] : program_names(program, {rank, local_rank})) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    const std::string environment = python_environment(program);
    if (!environment.empty()) enter_python_environment(environment);
  } catch (const FieldError& error) {
    std::fprintf(stderr, "agent: error: %s\n", error.what());
    ::_exit(static_cast<int>(Exit::internal));
  } catch (const Error& error) {
    std::fprintf(stderr, "agent: error: %s\n", error.what());
    ::_exit(static_cast<int>(error.code()));
  }
}

/// The program itself: own process group, log as stdout and stderr, gone when the inner process is.
[[noreturn]] void become_program(const RankOptions& options, const std::string& who, const std::string& log, int pmi_fd,
                                 int outcome_fd, int parent) {
  const std::vector<std::string> command =
      with_prologue(options.prologue, who, python_environment(options.program), options.command);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotStart);
  reset_signals();
  const bool redirected = redirect_standard_streams(log);
  if (redirected && (options.cwd.empty() || ::chdir(options.cwd.c_str()) == 0)) {
    close_descriptors_except(pmi_fd, outcome_fd);
    if (outcome_fd >= 0) ::setenv(kOutcomeVariable, std::to_string(outcome_fd).c_str(), 1);
    take_environment(options.program);
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv.front(), argv.data());
  }
  const int code = errno;
  const bool by_name = command.front().find('/') == std::string::npos;
  std::fprintf(
      stderr, "agent: error: %s: cannot start '%s'%s: %s. %s\n", who.c_str(), command.front().c_str(),
      by_name ? ", looked up on PATH" : "", std::strerror(code),
      code == ENOENT ? "Install it on that node, or name its whole path" : "Check the path and its permissions there");
  ::_exit(kCannotStart);
}

bool ended_by_a_stop(int status) {
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGTERM;
  return WEXITSTATUS(status) == 128 + SIGTERM || WEXITSTATUS(status) == static_cast<int>(Exit::stopped);
}

/// Where the inner process rests: it takes signals, and looks at the log in between.
class Rest {
 public:
  Rest(const sigset_t& handled, LogTimes& times)
      : handled_(handled), fd_(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK)), times_(times) {
    if (!fd_) throw file_error("make", "a descriptor of signals");
  }
  /// The next signal, or -1 where none came: after `milliseconds` at most.
  int next_signal(int milliseconds) {
    std::array<pollfd, 2> fds{{{fd_.get(), POLLIN, 0}, {times_.fd(), POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), std::min(milliseconds, times_.patience_ms()));
    times_.look();
    const timespec now_only{0, 0};
    return ::sigtimedwait(&handled_, nullptr, &now_only);
  }

 private:
  const sigset_t& handled_;
  Descriptor fd_;
  LogTimes& times_;
};

/// SIGTERM ends the shell of a script at once, and what the script started knows nothing of it. So
/// the rest of its process group gets SIGTERM then, and `seconds` to end. While the program lives
/// it alone gets the signal: it may need its helpers, such as a data loader's, to save its work.
void end_the_group(int program, double seconds, Rest& rest) {
  const double deadline = monotonic_seconds() + seconds;
  ::kill(-program, SIGTERM);
  for (;;) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;  // orphans of the program are children of this process
    if (::kill(-program, 0) != 0) return;
    if (monotonic_seconds() >= deadline || rest.next_signal(kLookMs) == kOrphaned) break;
  }
  ::kill(-program, SIGKILL);
}

/// Waits for the program's end, handing the first SIGTERM or SIGINT on to it. Returns waitpid's
/// status; nothing where that cannot be had, with errno set.
std::optional<int> supervise_program(int program, StartRecord& start, Rest& rest) {
  bool forwarded = false;
  double kill_at = 0;
  for (;;) {
    int status = 0;
    const int ended = ::waitpid(-1, &status, WNOHANG);
    if (ended == program) return status;
    if (ended > 0) continue;  // an orphan of the program
    if (ended < 0 && errno != EINTR) return std::nullopt;

    start.look();
    const int number = rest.next_signal(kill_at > 0 || !start.is_written() ? kLookMs : kLongestRestMs);
    if ((number == SIGTERM || number == SIGINT) && !forwarded) {
      forwarded = true;
      ::kill(program, number);
    }
    if (number == kOrphaned && kill_at == 0) kill_at = monotonic_seconds() + kOrphanGraceMs / 1000.0;
    if (kill_at > 0 && monotonic_seconds() >= kill_at) ::kill(-program, SIGKILL);
  }
}

void take_status(std::optional<int> status, ExitRecord& record) {
  if (!status) {
    record.exit_code = static_cast<int>(Exit::internal);
    record.last_line = std::string("agent: error: how the program ended cannot be learnt: ") + std::strerror(errno) +
                       ". See the rank's log";
  } else if (WIFSIGNALED(*status)) {
    record.signal = WTERMSIG(*status);
  } else {
    record.exit_code = WEXITSTATUS(*status);
  }
}

/// Tries until there is room for it. What stands in the way is said in the rank's log, where the
/// head looks for it when a rank is gone without a record.
void write_exit_record(const RunFolder& folder, int generation, const ExitRecord& record, const std::string& log) {
  const double deadline = monotonic_seconds() + kRecordSeconds;
  for (bool said = false;; said = true) {
    try {
      return replace_file(folder.exit_record(generation, record.rank), to_line(record.to_json()) + "\n");
    } catch (const Error& error) {
      if (!said) {
        const std::string line = "agent: error: rank " + std::to_string(record.rank) + " ended (" +
                                 record.how_it_ended() + "), but its exit record was not written: " + error.what() +
                                 "\n";
        const Descriptor fd(::open(log.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
        if (fd && ::write(fd.get(), line.data(), line.size()) < 0) std::perror("agent: warning: log");
      }
      const bool may_pass = !is_gone(folder.file("exits"));  // no room comes for a file whose folder is gone
      if (monotonic_seconds() >= deadline || !may_pass) throw;
    }
    sleep_ms(kLookMs);
  }
}

/// Of a rank that is to be debugged: where, and in the options the command that starts its program
/// under debugpy.
std::optional<DebugPlace> take_debugger(RankOptions& options, int rank, const std::string& who) {
  const std::optional<DebugSpec> debug = debug_of(options.program, rank);
  if (!debug) return std::nullopt;
  const std::vector<int> ports = free_ports(0, 0, 1);
  if (ports.empty()) throw Error(Exit::device, who + ": no port is free for its debugger");
  options.command = debugged(options.command, *debug, who, ports.front());
  std::error_code unknown;  // then the folder as it is named
  const std::filesystem::path named = options.cwd.empty() ? "." : options.cwd;
  const std::filesystem::path folder = std::filesystem::canonical(named, unknown);
  return DebugPlace{ports.front(), unknown ? named.string() : folder.string()};
}

int run_inner(const RankOptions& given, int rank, int pmi_fd, const sigset_t& handled) {
  RankOptions options = with_command(given);
  const RunFolder folder(options.run_dir);
  const std::string name = "rank-" + std::to_string(rank);
  const std::string log = folder.log(name);
  const std::string who = "rank " + std::to_string(rank) + " on " + host_name();
  const std::optional<DebugPlace> debug = take_debugger(options, rank, who);
  const std::vector<std::string>& command = options.command;
  ExitRecord record;
  record.rank = rank;
  record.host = host_name();
  record.started = now_seconds();

  const uint64_t log_begin = log_size(log);
  LogTimes times(folder, name);
  Rest rest(handled, times);

  const int parent = ::getpid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // what the program leaves behind is found, and ended, below this process
  const OutcomeFile outcomes;
  const int program = ::fork();
  if (program < 0) throw file_error("start", command.front());
  if (program == 0) become_program(options, who, log, pmi_fd, outcomes.fd(), parent);
  if (pmi_fd >= 0) ::close(pmi_fd);
  record.pid = program;
  StartRecord start(folder, options.generation, rank, program, debug);

  const std::optional<int> status = supervise_program(program, start, rest);
  start.finish();
  if (status && options.program.is_object() && ended_by_a_stop(*status)) {
    end_the_group(program, options.program.value("stopGrace", 0.0), rest);
  }
  times.look_once_more();
  record.ended = now_seconds();
  take_status(status, record);
  record.outcome = outcomes.read();
  const auto beat = read_heartbeat(folder.heartbeat(rank));
  record.last_step = beat ? beat->step : 0;
  if (const auto line = last_error_line(log, log_begin)) record.last_line = line;
  if (record.exit_code && record.failed()) record.exception = last_python_exception(log, log_begin);
  write_exit_record(folder, options.generation, record, log);
  return record.code();
}

int run_outer(int inner, const sigset_t& handled) {
  for (;;) {
    int status = 0;
    const int ended = ::waitpid(inner, &status, WNOHANG);
    if (ended == inner) return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (ended < 0 && errno != EINTR) return static_cast<int>(Exit::internal);
    const int number = ::sigwaitinfo(&handled, nullptr);
    if (number == SIGTERM || number == SIGINT) ::kill(inner, number);
  }
}

/// Until every rank of the generation has ended, or somebody wants this process to end.
void wait_for_the_others(const std::string& all_ended, const sigset_t& handled) {
  const timespec patience{0, kLookMs * 1'000'000L};
  while (::access(all_ended.c_str(), F_OK) != 0) {
    const int number = ::sigtimedwait(&handled, nullptr, &patience);
    if (number == SIGTERM || number == SIGINT || number == SIGHUP) return;
  }
}

}  // namespace

Json command_file(const std::vector<std::string>& argv, const std::string& cwd, const std::string& prologue,
                  const Json& program) {
  return {{"argv", argv}, {"cwd", cwd}, {"prologue", prologue}, {"program", program}};
}

RankOptions with_environment(RankOptions options) {
  const auto take = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  if (options.run_dir.empty()) options.run_dir = take(kRunVariable);
  if (options.generation == 0) options.generation = number_from("TRAINYARD_GENERATION", 0);
  if (options.command.empty() && options.command_file.empty()) options.command_file = take(kCommandVariable);
  if (options.run_dir.empty() || options.generation < 1 || (options.command.empty() && options.command_file.empty())) {
    throw Error(Exit::usage, "agent rank was given no command. Put it after --");
  }
  return options;
}

int run_rank(const RankOptions& options) {
  const int rank = number_from("PMI_RANK", 0);
  const int pmi_fd = number_from("PMI_FD", -1);
  close_descriptors_except(pmi_fd);  // the proxy leaks its other ranks' pipes into us
  const sigset_t handled = block_signals();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // then the inner one ends the program

  const int outer = ::getpid();
  const int inner = ::fork();
  if (inner < 0) throw file_error("start", "the rank");
  if (inner != 0) {
    const int code = run_outer(inner, handled);
    if (pmi_fd >= 0) wait_for_the_others(RunFolder(options.run_dir).all_ended(options.generation), handled);
    return code;
  }
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, kOrphaned);
  if (::getppid() != outer) ::raise(kOrphaned);
  return run_inner(options, rank, pmi_fd, handled);
}

}  // namespace trainyard
