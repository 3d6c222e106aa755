#include "trainer/data/fetch/child_lines.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

/// What the program reads: a file in memory, as writing into a pipe whose reader has ended would
/// end us too.
Descriptor memory_file(const std::string& text) {
  Descriptor fd(::memfd_create("input", MFD_CLOEXEC));
  if (!fd) throw file_error("make", "a file in memory");
  write_all(fd.get(), text, "a file in memory");
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) throw file_error("rewind", "a file in memory");
  return fd;
}

/// A program that was started, ended at the end of its scope if it is still there.
class Child {
 public:
  Child(const std::vector<std::string>& argv, int input, int output) {
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    const int failure = ::posix_spawnp(&pid_, words.front(), &actions, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failure == 0) return;
    pid_ = 0;
    errno = failure;
    throw file_error("start", argv.front());
  }
  ~Child() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGTERM);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
};

}  // namespace

int run_for_lines(const std::vector<std::string>& argv, const std::string& input,
                  const std::function<void(const std::string& line)>& on_line) {
  const Descriptor given = memory_file(input);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw file_error("make", "a pipe");
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  Child child(argv, given.get(), writer.get());
  writer = Descriptor();
  std::string pending;
  std::array<char, 4096> chunk{};
  for (;;) {
    const ssize_t got = ::read(reader.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error("read", "what " + argv.front() + " says");
    if (got == 0) return child.wait();
    pending.append(chunk.data(), static_cast<size_t>(got));
    for (size_t end = 0; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
      on_line(pending.substr(0, end));
    }
  }
}

}  // namespace trainyard
