// Starting, finding and ending a server on a private socket. TensorBoard itself is not in the
// build's toolchain: a small Python server with the same command line stands for it here, and the
// launcher's own checks are called directly.
#include "agent/tensorboard/tensorboard.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

constexpr const char* kServer = R"(import os, socket, sys
path = sys.argv[sys.argv.index('--socket') + 1]
os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
if os.path.exists(path): os.unlink(path)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
print('serving', sys.argv[sys.argv.index('--logdir') + 1], 'TRAINYARD_RUN_DIR' in os.environ, flush=True)
while True: listener.accept()
)";

class Tensorboard : public RunTest {
 protected:
  Json params(const std::string& dir, const std::string& server = kServer) {
    write_file(folder_.file("server.py"), server);
    return {{"dir", dir}, {"python", TRAINYARD_PYTHON}, {"server", folder_.file("server.py")}, {"idle", 60}};
  }
};

TEST_F(Tensorboard, IsStartedOnceFoundAgainAndEnded) {
  const std::string dir = folder_.path();
  const Json first = client_->call("tensorboard.start", params(dir));
  EXPECT_TRUE(socket_answers(first["socket"]));
  EXPECT_EQ(client_->call("tensorboard.start", params(dir)), first);
  client_ = std::make_unique<Client>();  // it outlives its starter
  Json status = client_->call("tensorboard.status", {{"dir", dir}});
  EXPECT_EQ(status["running"], true);
  EXPECT_EQ(status["pid"], first["pid"]);
  EXPECT_EQ(status["lastLines"], Json({"serving " + dir + " False"}));
  client_->call("tensorboard.stop", {{"dir", dir}});
  status = client_->call("tensorboard.status", {{"dir", dir}});
  EXPECT_EQ(status["running"], false);
  EXPECT_FALSE(process_start_time(first["pid"]).has_value());
  EXPECT_FALSE(std::filesystem::exists(first["socket"].get<std::string>()));
}

TEST_F(Tensorboard, AskedForTwiceAtOnceIsStartedOnce) {
  const std::string slow = std::string("import time\ntime.sleep(0.5)\n") + kServer;
  const Json wanted = params(folder_.path(), slow);
  for (const int id : {1, 2}) {
    client_->send_raw(to_line({{"jsonrpc", "2.0"}, {"id", id}, {"method", "tensorboard.start"}, {"params", wanted}}) +
                      "\n");
  }
  EXPECT_EQ(client_->next_answer()["result"], client_->next_answer()["result"]);
  client_->call("tensorboard.stop", {{"dir", folder_.path()}});
}

/// A process of another user that serves a socket. Needs root.
class Stranger {
 public:
  explicit Stranger(const std::string& path) {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
      const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
      const bool bound = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
      const bool serves = bound && ::setuid(kUser) == 0 && ::listen(fd, 8) == 0;
      if (!serves || ::write(ready[1], "", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1) << "the stranger does not serve";
    ::close(ready[0]);
  }
  ~Stranger() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  static constexpr uid_t kUser = 64102;

 private:
  int pid_ = 0;
};

TEST_F(Tensorboard, OfAnotherUserIsNotTakenForOurs) {
  if (::geteuid() != 0) GTEST_SKIP() << "it needs root, to be another user";
  const Stranger alone(folder_.file("alone.sock"));
  EXPECT_FALSE(socket_answers(folder_.file("alone.sock")));

  ::setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
  client_ = std::make_unique<Client>();
  ::unsetenv("XDG_RUNTIME_DIR");
  const std::string dir = folder_.path();
  const std::string socket = client_->call("tensorboard.start", params(dir))["socket"];
  const std::string beside = std::filesystem::path(socket).parent_path();
  ASSERT_EQ(beside, dir + "/trainyard");
  client_->call("tensorboard.stop", {{"dir", dir}});
  const Stranger stranger(socket);
  ASSERT_EQ(::chown(beside.c_str(), Stranger::kUser, Stranger::kUser), 0);
  const Json error = client_->error("tensorboard.start", params(dir));
  const std::string said = "TensorBoard's socket is not safe: " + beside + " belongs to user 64102, not to you";
  EXPECT_EQ(error["message"].get<std::string>().substr(0, said.size()), said);
  EXPECT_EQ(client_->call("tensorboard.status", {{"dir", dir}})["running"], false);
}

TEST_F(Tensorboard, ThatDoesNotStartSaysWhy) {
  const Json error =
      client_->error("tensorboard.start", params(folder_.path(), "raise SystemExit('no module named x')"));
  EXPECT_EQ(error["code"], 3);
  EXPECT_NE(error["message"].get<std::string>().find("no module named x"), std::string::npos) << error;
}

TEST_F(Tensorboard, OfARunOutlivesIt) {
  Json spec = command_spec("sleep 2");
  spec["tensorboard"] = true;
  write_file(folder_.file("server.py"), kServer);
  spec["paths"]["python"] = TRAINYARD_PYTHON;
  spec["paths"]["tensorboardServer"] = folder_.file("server.py");
  const std::string dir = start(spec);
  EXPECT_EQ(ended(dir)["phase"], "finished");
  ASSERT_EQ(events(dir, "tensorboard_started").size(), 1U) << text(dir + "/events.jsonl");
  EXPECT_EQ(client_->call("tensorboard.status", {{"dir", dir}})["running"], true);
  const int pid = events(dir, "tensorboard_started")[0]["pid"];
  EXPECT_TRUE(process_start_time(pid).has_value());
  client_->call("run.delete", {{"dir", dir}});
  EXPECT_FALSE(process_start_time(pid).has_value());
  EXPECT_FALSE(std::filesystem::exists(dir));
}

class Launcher : public testing::Test {
 protected:
  /// Runs Python lines after importing the launcher; its exit code, what it printed in said().
  int python(const std::string& lines) {
    const std::string folder = std::filesystem::path(TRAINYARD_TENSORBOARD_SERVER).parent_path();
    write_file(folder_.file("check.py"), "import sys\nsys.dont_write_bytecode = True\nsys.path.insert(0, '" + folder +
                                             "')\nfrom tensorboard_server import *\nbase = '" + folder_.path() + "'\n" +
                                             lines);
    const std::string line =
        TRAINYARD_PYTHON " '" + folder_.file("check.py") + "' > '" + folder_.file("said") + "' 2>&1";
    return WEXITSTATUS(std::system(line.c_str()));
  }
  std::string said() { return read_file(folder_.file("said")); }
  TemporaryFolder folder_;
};

TEST_F(Launcher, MakesAPrivateFolderAndRefusesAnOpenOne) {
  EXPECT_EQ(python("check_private_folder(base + '/new')"), 0) << said();
  struct stat info{};
  ASSERT_EQ(::stat(folder_.file("new").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  ::chmod(folder_.file("new").c_str(), 0750);
  EXPECT_NE(python("check_private_folder(base + '/new')"), 0);
  EXPECT_NE(said().find("can be entered by others"), std::string::npos) << said();
  std::filesystem::create_symlink(folder_.path(), folder_.file("link"));
  EXPECT_NE(python("check_private_folder(base + '/link')"), 0);
}

TEST_F(Launcher, ReplacesAStaleSocketAndRefusesAServedOne) {
  const std::string path = "path = base + '/d/s.sock'\n";
  EXPECT_EQ(python(path + "listen(path).close()\nlisten(path)\nassert stat.S_IMODE(os.stat(path).st_mode) == 0o600"), 0)
      << said();
  EXPECT_NE(python(path + "held = listen(path)\nlisten(path)"), 0);
  EXPECT_NE(said().find("already"), std::string::npos) << said();
  EXPECT_NE(python("os.mkdir(base + '/e', 0o700)\nopen(base + '/e/f', 'w').close()\nlisten(base + '/e/f')"), 0);
  EXPECT_EQ(read_file(folder_.file("e/f")), "");  // a plain file is never deleted
}

TEST_F(Launcher, SaysWhenTensorBoardIsMissing) {
  const std::string line = TRAINYARD_PYTHON " -I " TRAINYARD_TENSORBOARD_SERVER " --logdir '" + folder_.path() +
                           "' --socket '" + folder_.file("d/s.sock") + "' > '" + folder_.file("said") + "' 2>&1";
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 2);
  EXPECT_NE(said().find("TensorBoard is not installed"), std::string::npos) << said();
}

}  // namespace
}  // namespace trainyard::test
