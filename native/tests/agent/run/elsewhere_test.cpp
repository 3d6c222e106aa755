// A live run on a disk that several hosts see: another host, or another boot of this one, takes it
// for what it is.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <thread>

#include "agent/messages/rpc_error.h"
#include "agent/run/lease.h"
#include "agent/run/run_processes.h"
#include "agent/run/run_state.h"
#include "agent/system/clock.h"
#include "common/files.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

constexpr const char* kOtherBoot = "00000000-1111-4222-8333-444444444444";

class ElsewhereTest : public RunTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0 || std::system("unshare --mount true 2>/dev/null") != 0) {
      GTEST_SKIP() << "a mount namespace with another boot id needs root";
    }
    write_file(folder_.file("boot_id"), std::string(kOtherBoot) + "\n");
    const std::string mount = "mount --bind \"$1\" /proc/sys/kernel/random/boot_id && exec \"$2\" serve";
    other_ = std::make_unique<Client>("exec unshare --mount sh -c '" + mount + "' sh '" + folder_.file("boot_id") +
                                      "' '" TRAINYARD_AGENT "'; ");
  }

  std::unique_ptr<Client> other_;  ///< an agent of "another host"
};

TEST_F(ElsewhereTest, ALiveRunSeenFromAnotherBootIdIsNeitherInterruptedNorTouched) {
  const Json spec = command_spec("trap 'exit 75' TERM; while :; do sleep 0.05; done");
  const std::string dir = start(spec);
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  ASSERT_EQ(other_->call("hello")["bootId"], kOtherBoot);

  const std::string run = text(dir + "/run.json"), events_before = text(dir + "/events.jsonl");
  const Json supervisor = state(dir)["supervisor"];
  const std::vector<NamedProcess> alive = processes(dir);
  const Json got = other_->call("run.get", {{"dir", dir}});
  EXPECT_EQ(got["interrupted"], false);
  EXPECT_EQ(got["elsewhere"], host_name());
  const Json listed = other_->call("run.list", {{"workdir", folder_.file("work")}});
  EXPECT_EQ(listed["runs"][0]["interrupted"], false);
  EXPECT_EQ(client_->call("run.get", {{"dir", dir}})["elsewhere"], nullptr);

  Json again = command_spec("true");
  again["dir"] = dir;
  for (const Json& refused : {other_->error("run.delete", {{"dir", dir}}), other_->error("run.kill", {{"dir", dir}}),
                              other_->error("run.start", {{"workdir", folder_.file("work")}, {"spec", again}})}) {
    EXPECT_EQ(refused["code"], 2);
    EXPECT_NE(refused["message"].get<std::string>().find(" on " + host_name()), std::string::npos) << refused;
  }
  const Json killed = other_->call("leftovers.kill", {{"workdir", folder_.file("work")}, {"all", false}});
  EXPECT_TRUE(killed["killed"].empty()) << killed;
  EXPECT_EQ(text(dir + "/run.json"), run);
  EXPECT_EQ(text(dir + "/events.jsonl"), events_before);
  EXPECT_EQ(state(dir)["supervisor"], supervisor);
  for (const NamedProcess& one : alive) {
    if (one.what == "sleep" || one.what == "agent") continue;  // the program and the agent make short-lived ones
    EXPECT_TRUE(is_alive(one.process)) << one.what;
  }

  const Json updated = state(dir)["updated"];
  EXPECT_TRUE(eventually([&] { return state(dir)["updated"] != updated; })) << "the lease is not renewed";

  other_->call("run.stop", {{"dir", dir}, {"mode", "checkpoint"}, {"by", "me@there"}});
  EXPECT_EQ(ended(dir)["exitCode"], 75);
  other_->call("run.delete", {{"dir", dir}});
  EXPECT_EQ(client_->error("run.get", {{"dir", dir}})["code"], 1);
}

TEST_F(ElsewhereTest, ARunThatItsHostLeftByRebootingGoesOn) {
  const std::string dir = start(command_spec("trap '' TERM; sleep 300"));
  ASSERT_TRUE(wait_for_phase(dir, "running"));
  for (const NamedProcess& one : find_run(RunFolder(dir), {})) signal_process(one.process, SIGKILL);
  ASSERT_TRUE(eventually([&] { return find_run(RunFolder(dir), {}).empty(); }));
  // What has those pids by now is somebody else's, even where its start time since boot is the
  // same.
  const int bystander = ::fork();
  if (bystander == 0) ::execl("/bin/sleep", "sleep", "60", nullptr);
  Json forged = state(dir);
  const Json process{{"pid", bystander}, {"startTime", process_start_time(bystander).value()}};
  for (const char* name : {"mpiexec", "guard"}) forged[name] = process;
  forged["supervisor"].update(process);
  for (Json& rank : forged["ranks"]) rank.update(process);
  replace_file(dir + "/state.json", to_line(forged) + "\n");

  EXPECT_TRUE(eventually([&] { return other_->call("run.get", {{"dir", dir}})["interrupted"] == true; }));
  EXPECT_TRUE(other_->call("run.kill", {{"dir", dir}})["killed"].empty());
  Json next = command_spec("true");
  next["dir"] = dir;
  other_->call("run.start", {{"workdir", folder_.file("work")}, {"spec", next}});
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(state(dir)["generation"], 2);
  EXPECT_TRUE(process_start_time(bystander).has_value()) << "a bystander was ended";
  ::kill(bystander, SIGKILL);
  ::waitpid(bystander, nullptr, 0);
}

/// Stands in for a supervisor on another host whose lock is not seen here and whose clock is an
/// hour off: there is no network file system to be had in a test.
class DistantSupervisor {
 public:
  explicit DistantSupervisor(const RunFolder& folder) : folder_(folder) {
    write();
    thread_ = std::thread([this] {
      for (int ticks = 1; !over_; ++ticks) {
        if (ticks % 10 == 0) write();
        sleep_ms(50);
      }
    });
  }
  ~DistantSupervisor() {
    over_ = true;
    thread_.join();
  }

 private:
  void write() {
    RunState state;
    state.phase = "running";
    state.boot = kOtherBoot;
    state.host = "gpu1";
    state.supervisor = {7, 7};
    Json json = state.to_json();
    json["updated"] = now_seconds() - 3600;
    replace_file(folder_.state(), to_line(json) + "\n");
  }

  RunFolder folder_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

TEST(Lease, HoldsWhereLocksDoNotCrossHostsAndClocksDiffer) {
  using Kind = Supervision::Kind;
  TemporaryFolder temporary;
  const RunFolder folder(temporary.path());
  write_file(folder.lock(), "");
  const auto now = [&] { return supervision(folder, read_json_object(folder.state()), Disk::shared); };
  {
    const DistantSupervisor distant(folder);
    EXPECT_EQ(now().kind, Kind::elsewhere);
    EXPECT_EQ(now().host, "gpu1");
    FolderHold hold(folder, Disk::shared);
    std::string refused;
    EXPECT_TRUE(eventually([&] {
      try {
        return hold.step();
      } catch (const RpcError& error) {
        refused = error.what();
        return true;
      }
    }));
    EXPECT_NE(refused.find("under way on gpu1"), std::string::npos) << refused;
  }
  EXPECT_EQ(now().kind, Kind::elsewhere) << "its last word is not old";
  const double long_ago = now_seconds() - kLeaseSeconds - 5;
  const timespec then{static_cast<time_t>(long_ago), 0};
  const timespec times[2]{then, then};
  ASSERT_EQ(::utimensat(AT_FDCWD, folder.state().c_str(), times, 0), 0);
  EXPECT_EQ(now().kind, Kind::nobody);
  FolderHold hold(folder, Disk::shared);
  for (int tries = 0; tries < 20; ++tries) EXPECT_FALSE(hold.step()) << "nothing was watched";
}

}  // namespace
}  // namespace trainyard::test
