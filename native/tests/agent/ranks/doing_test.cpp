// What is said of real processes that wait, stop or compute.
#include "agent/ranks/doing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "common/files.h"
#include "tests/agent/support/run_fixture.h"
#include "trainer/base/note.h"

namespace trainyard::test {
namespace {

/// A process that does one thing until the test is over.
class Other {
 public:
  explicit Other(const std::function<void()>& work) : pid_(::fork()) {
    if (pid_ != 0) return;
    work();
    ::_exit(0);
  }
  ~Other() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;
  int pid() const { return pid_; }

 private:
  int pid_;
};

/// What is said of it, as soon as it does that.
std::string said_of(const Other& other, const std::string& wanted, double busy = 0) {
  std::string said;
  eventually(
      [&] {
        said = doing_of(other.pid(), busy);
        return said == wanted;
      },
      10);
  return said;
}

void wait_forever() {
  int word = 0;
  for (;;) ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
}

/// A file system whose server never answers: FUSE's requests are never read.
class SilentDisk {
 public:
  explicit SilentDisk(const std::string& path) : path_(path), server_(::open("/dev/fuse", O_RDWR | O_CLOEXEC)) {
    ::mkdir(path.c_str(), 0700);
    const std::string options = "fd=" + std::to_string(server_.get()) + ",rootmode=40000,user_id=0,group_id=0";
    mounted_ = server_ && ::mount("silent", path.c_str(), "fuse", 0, options.c_str()) == 0;
  }
  ~SilentDisk() {
    server_ = Descriptor();  // with it every question ends
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SilentDisk(const SilentDisk&) = delete;
  SilentDisk& operator=(const SilentDisk&) = delete;
  explicit operator bool() const { return mounted_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  Descriptor server_;
  bool mounted_ = false;
};

TEST(Doing, AStoppedProcess) {
  const std::string wanted = "is stopped by a signal (SIGSTOP or a debugger)";
  const Other other([] { ::raise(SIGSTOP); });
  EXPECT_EQ(said_of(other, wanted), wanted);
}

TEST(Doing, OneThatReadsAPipeWithAName) {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("feed");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Other reads([&] {
    const int fd = ::open(pipe.c_str(), O_RDWR);
    char byte = 0;
    while (::read(fd, &byte, 1) >= 0) continue;
  });
  const std::string wanted = "waits for another process: it reads " + pipe + " (a pipe)";
  EXPECT_EQ(said_of(reads, wanted), wanted);
}

TEST(Doing, OneThatOpensAPipeWhoseOtherEndNobodyHas) {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("feed");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Other opens([&] { ::open(pipe.c_str(), O_RDONLY); });
  const std::string wanted = "waits for another process: it opens " + pipe + " (a pipe)";
  EXPECT_EQ(said_of(opens, wanted), wanted);
}

TEST(Doing, OneThatReadsAPipeOrASocket) {
  std::array<int, 2> pipe{-1, -1};
  std::array<int, 2> sockets{-1, -1};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()), 0);
  const Descriptor from(pipe[0]), to(pipe[1]), mine(sockets[0]), theirs(sockets[1]);
  const auto reading = [](const Descriptor& fd) {
    return [&fd] {
      char byte = 0;
      while (::read(fd.get(), &byte, 1) >= 0) continue;
    };
  };
  const Other of_pipe(reading(from)), of_socket(reading(mine));
  const std::string pipes = "waits for another process: it reads a pipe";
  EXPECT_EQ(said_of(of_pipe, pipes), pipes);
  const std::string network = "waits for the network: it reads a socket";
  EXPECT_EQ(said_of(of_socket, network), network);
}

TEST(Doing, OneThatWaitsForAnotherThread) {
  const std::string wanted = "sleeps in futex_wait: it waits for another thread";
  const Other other(wait_forever);
  EXPECT_EQ(said_of(other, wanted), wanted);
}

TEST(Doing, OneThatComputes) {
  const std::string wanted = "computes or polls (1.0 cores)";
  const Other other([] {
    for (volatile bool on = true; on;) continue;
  });
  EXPECT_EQ(said_of(other, wanted, 1.02), wanted);
}

TEST(Doing, OneWhoseOtherThreadsCompute) {
  const std::string wanted = "waits for its other threads, which compute or poll (1.0 cores)";
  const Other other([] {
    std::thread([] {
      for (volatile bool on = true; on;) continue;
    }).join();
  });
  EXPECT_EQ(said_of(other, wanted, 0.98), wanted);
}

TEST(Doing, AShellAndTheProgramThatItStarted) {
  const std::string wanted = "waits for its process sleep, which sleeps in nanosleep: it lets a time pass";
  const Other other([] { ::execl("/bin/sh", "sh", "-c", "sleep 60; exit", nullptr); });
  const std::string said = said_of(other, wanted);
  EXPECT_EQ(said, wanted);
  const int child = std::atoi(
      read_file("/proc/" + std::to_string(other.pid()) + "/task/" + std::to_string(other.pid()) + "/children").c_str());
  if (child > 0) ::kill(child, SIGKILL);
}

TEST(Doing, OneThatIsGone) {
  const std::string wanted = "has ended";
  const Other other([] {});
  EXPECT_EQ(said_of(other, wanted), wanted);
}

TEST(Doing, OneThatMeetsADiskThatHangs) {
  const TemporaryFolder folder;
  const SilentDisk disk(folder.file("images"));
  if (!disk) GTEST_SKIP() << "mounts need root and FUSE";
  const std::string path = disk.file("train-00012");
  const std::string wanted = "waits for the disk: it opens " + path + " (fuse)";
  const Other opens([&] { ::open(path.c_str(), O_RDONLY); });
  EXPECT_EQ(said_of(opens, wanted), wanted);
}

TEST(Doing, OneWhoseThreadMeetsADiskThatHangs) {
  const TemporaryFolder folder;
  const SilentDisk disk(folder.file("images"));
  if (!disk) GTEST_SKIP() << "mounts need root and FUSE";
  const std::string path = disk.file("train-00012");
  const std::string wanted = "waits for the disk: a thread of it opens " + path + " (fuse)";
  const Other other([&] {
    std::thread idle(wait_forever);
    std::thread([&] { ::open(path.c_str(), O_RDONLY); }).detach();
    idle.join();
  });
  EXPECT_EQ(said_of(other, wanted), wanted);
}

/// What a process of another user may say of it.
std::string said_by_another_user(int pid) {
  std::array<int, 2> pipe{-1, -1};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return "no pipe";
  const Descriptor from(pipe[0]);
  Descriptor to(pipe[1]);
  const Other looks([&] {
    constexpr uid_t kNobody = 65534;
    if (::setresgid(kNobody, kNobody, kNobody) != 0 || ::setresuid(kNobody, kNobody, kNobody) != 0) return;
    write_all(to.get(), doing_of(pid, 0), "pipe");
  });
  to = Descriptor();
  std::array<char, kMostDoing> text{};
  const ssize_t got = ::read(from.get(), text.data(), text.size());
  return {text.data(), static_cast<size_t>(std::max<ssize_t>(got, 0))};
}

TEST(Doing, WhereNothingMayBeReadTheStateIsLeft) {
  if (::getuid() != 0) GTEST_SKIP() << "another user's process needs root";
  const Other waits(wait_forever);
  const Other stops([] {
    show_note();
    ::raise(SIGSTOP);
  });
  const std::string stopped = "starts: it is stopped by a signal (SIGSTOP or a debugger)";
  ASSERT_EQ(said_of(stops, stopped), stopped);
  EXPECT_EQ(said_by_another_user(stops.pid()), "is stopped by a signal (SIGSTOP or a debugger)");
  ASSERT_EQ(said_of(waits, "sleeps in futex_wait: it waits for another thread").substr(0, 6), "sleeps");
  EXPECT_EQ(said_by_another_user(waits.pid()), "sleeps");
}

TEST(Doing, ATrainerSaysMore) {
  const Other sums([] {
    show_note();
    note(RankWork::computes, 121);
    note(RankWork::sums);
    note_part(3, 12);
    wait_forever();
  });
  const std::string summing = "sums gradients of step 121 (part 3 of 12): it waits for another thread";
  EXPECT_EQ(said_of(sums, summing), summing);

  const Other stops([] {
    show_note();
    note(RankWork::forward, 121);
    {
      const Noted other(RankWork::sums_statistics);
    }
    ::raise(SIGSTOP);
  });
  const std::string stopped = "computes step 121 (forward pass): it is stopped by a signal (SIGSTOP or a debugger)";
  EXPECT_EQ(said_of(stops, stopped), stopped);
}

TEST(Doing, ATrainerSaysWhyItsThreadMeetsADiskThatHangs) {
  const TemporaryFolder folder;
  const SilentDisk disk(folder.file("images"));
  if (!disk) GTEST_SKIP() << "mounts need root and FUSE";
  const std::string path = disk.file("train-00012");
  const std::string wanted = "waits for images of step 7: a thread of it opens " + path + " (fuse)";
  const Other other([&] {
    show_note();
    const Noted waiting(RankWork::takes_images, 7);
    std::thread([&] { ::open(path.c_str(), O_RDONLY); }).detach();
    wait_forever();
  });
  EXPECT_EQ(said_of(other, wanted), wanted);
}

TEST(Doing, APhraseIsShortAndPlain) {
  EXPECT_EQ(short_phrase("reads a\nb\x1b[31m"), "reads a?b?[31m");
  const std::string whole = short_phrase(std::string(kMostDoing - 1, 'x') + "\xc3\xa9\xc3\xa9");
  EXPECT_EQ(whole, std::string(kMostDoing - 3, 'x') + "...");
  const std::string letters = short_phrase(std::string(kMostDoing - 4, 'x') + "\xc3\xa9\xc3\xa9\xc3\xa9");
  EXPECT_EQ(letters, std::string(kMostDoing - 4, 'x') + "...") << "half a letter is none";
}

}  // namespace
}  // namespace trainyard::test
