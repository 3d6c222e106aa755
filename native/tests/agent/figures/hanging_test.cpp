// What the agent asks others for may hang, crash or be gone: the GPU driver (a stand-in for
// NVIDIA's library, which is not here) and a file system (a real mount that gives no answer). Runs
// and callers must not notice.
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/process.h"
#include "tests/agent/support/cluster_fixture.h"

namespace trainyard::test {
namespace {

constexpr uint64_t kGiB = 1ULL << 30;

class HangingGpus : public ClusterTest {
 protected:
  HangingGpus() {
    script("gpus 8\n");
    client_ =
        std::make_unique<Client>("export LD_LIBRARY_PATH='" TRAINYARD_NVML_STAND_IN "' NVML_STAND_IN='" +
                                 folder_.file("nvml") + "' TRAINYARD_GPU_LOCKS='" + folder_.file("locks") + "'; ");
  }

  /// What the driver tells from now on. Replaced in one step, since it is read at any moment.
  void script(const std::string& text) const {
    write_file(folder_.file("nvml.new"), text);
    std::filesystem::rename(folder_.file("nvml.new"), folder_.file("nvml"));
  }

  /// The first sample that holds the condition.
  Json sample_with(const std::function<bool(const Json&)>& condition) {
    Json sample;
    EXPECT_TRUE(eventually([&] {
      sample = client_->call("host.sample");
      return condition(sample);
    })) << sample;
    return sample;
  }

  static std::vector<Json> samples(const std::string& dir, const std::string& host) {
    std::vector<Json> found;
    std::ifstream in(dir + "/gpus/" + host + ".jsonl");
    for (std::string line; std::getline(in, line);) found.push_back(Json::parse(line));
    return found;
  }

  /// {what, path, since, reason} of what a sample misses, or null.
  static Json missing(const Json& sample, const std::string& what) {
    for (const Json& one : sample.value("missing", Json::array())) {
      if (one["what"] == what) return one;
    }
    return nullptr;
  }
};

/// A process of another user where this one may make one, else the system's first.
class Stranger {
 public:
  Stranger() {
    if (::geteuid() != 0) return;
    pid_ = ::fork();
    if (pid_ != 0) return;
    if (::setuid(65534) == 0) ::pause();
    ::_exit(0);
  }
  ~Stranger() {
    if (pid_ <= 1) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  int pid() const { return pid_; }

 private:
  int pid_ = 1;
};

TEST_F(HangingGpus, EightGpusAreToldAsTheDriverTellsThem) {
  const Stranger stranger;
  script("gpus 8\nprocess 0 " + std::to_string(::getpid()) + " 1073741824\nprocess 0 " +
         std::to_string(stranger.pid()) + " 2147483648\necc 0 3 0\necc 1 0 2\nreasons 0 0\nreasons 1 " +
         std::to_string(0x04 | 0x20) + "\nreasons 2 " + std::to_string(0x01 | 0x40) + "\n");
  Json gpus;
  sample_with([&](const Json& sample) {
    gpus = sample["gpus"];
    const bool both = gpus.size() == 8 && gpus[0]["processes"].size() == 2;
    return both && gpus[0]["processes"][0]["user"] != gpus[0]["processes"][1]["user"];
  });
  ASSERT_EQ(gpus.size(), 8U);
  const Json& first = gpus[0];
  EXPECT_EQ(first["name"], "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(first["memory_used"], 4 * kGiB);
  EXPECT_EQ(first["utilization"], 90);
  EXPECT_EQ(first["power_watts"], 650.5);
  EXPECT_EQ(first["problem"], nullptr);
  EXPECT_EQ(first["processes"][0]["pid"], ::getpid());
  EXPECT_EQ(first["processes"][1]["memory_used"], 2 * kGiB);
  EXPECT_TRUE(first["processes"][1]["user"].is_string());
  EXPECT_EQ(first["ecc"], Json({{"corrected", 3}, {"uncorrected", 0}}));
  EXPECT_EQ(first["slowed_by"], Json::array());
  EXPECT_EQ(gpus[1]["ecc"]["uncorrected"], 2);
  EXPECT_EQ(gpus[1]["slowed_by"], Json({"power_cap", "heat"}));
  EXPECT_EQ(gpus[2]["ecc"], nullptr);                        // the card does not support it
  EXPECT_EQ(gpus[2]["slowed_by"], Json({"hardware_heat"}));  // to be idle is no trouble
  EXPECT_EQ(gpus[7]["uuid"], "GPU-00000000-0000-4000-8000-000000000007");
}

TEST_F(HangingGpus, AHundredProcessesOnAGpuAreAllThere) {
  std::string text = "gpus 1\n";
  for (int one = 0; one < 100; ++one) text += "process 0 " + std::to_string(100'000 + one) + " 1024\n";
  script(text);
  const Json sample = sample_with([](const Json& one) { return one["gpus"].size() == 1; });
  EXPECT_EQ(sample["gpus"][0]["processes"].size(), 100U);
}

TEST_F(HangingGpus, AGpuThatFellOffTheBusKeepsItsNameAndHasAProblem) {
  sample_with([](const Json& sample) { return sample["gpus"].size() == 8; });
  script("gpus 8\nlost 3\n");
  const Json sample = sample_with([](const Json& one) { return !one["gpus"][3]["problem"].is_null(); });
  ASSERT_EQ(sample["gpus"].size(), 8U);
  const Json& lost = sample["gpus"][3];
  EXPECT_EQ(lost["problem"], "GPU is lost");
  EXPECT_EQ(lost["uuid"], "GPU-00000000-0000-4000-8000-000000000003");
  EXPECT_EQ(lost["name"], "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(lost["utilization"], nullptr);
  EXPECT_EQ(sample["gpus"][4]["problem"], nullptr);
}

TEST_F(HangingGpus, ADriverThatHangsIsSaidAndOtherCallsAreAnswered) {
  const double before = now_seconds();
  sample_with([](const Json& sample) { return sample["gpus"].size() == 8; });
  script("gpus 8\nhang nvmlDeviceGetTemperature\n");
  const Json sample = sample_with([](const Json& one) { return !missing(one, "gpus").is_null(); });
  const Json hang = missing(sample, "gpus");
  EXPECT_EQ(hang["reason"], "no answer");
  EXPECT_GE(hang["since"].get<double>(), before);
  EXPECT_LE(hang["since"].get<double>(), now_seconds());
  EXPECT_EQ(sample["gpus"].size(), 8U);  // as they were
  EXPECT_GT(sample["memory_total"].get<uint64_t>(), 0U);
  EXPECT_GT(sample["disk_free"].get<uint64_t>(), 0U);
  EXPECT_EQ(client_->call("hello")["pid"], client_->pid());
  script("gpus 8\n");
  sample_with([](const Json& one) { return one["gpus"].size() == 8 && !one.contains("missing"); });
  script("gpus 8\nhang nvmlDeviceGetCount_v2\n");
  sample_with([](const Json& one) { return !missing(one, "gpus").is_null(); });
  EXPECT_EQ(client_->close(), 0);  // a call that hangs keeps nobody from ending
}

TEST_F(HangingGpus, ADriverThatCrashesTakesNobodyAlong) {
  script("gpus 8\ncrash nvmlDeviceGetName\n");
  const Json sample = sample_with([](const Json& one) { return !missing(one, "gpus").is_null(); });
  EXPECT_NE(missing(sample, "gpus")["reason"].get<std::string>().find("ended"), std::string::npos) << sample;
  EXPECT_EQ(client_->call("hello")["pid"], client_->pid());
}

TEST_F(HangingGpus, ASupervisedRunGoesOnAndSaysSo) {
  script("gpus 8\nhang nvmlDeviceGetPowerUsage\n");
  const std::string released = folder_.file("released");
  const std::string dir = start(command_spec("while ! [ -e '" + released + "' ]; do sleep 0.1; done"));
  const std::string host = host_name();
  EXPECT_TRUE(eventually([&] {
    const auto lines = samples(dir, host);
    return !lines.empty() && !missing(lines.back(), "gpus").is_null();
  })) << text(dir + "/supervisor.log");
  write_file(released, "");
  EXPECT_EQ(ended(dir)["phase"], "finished");
  const std::string log = text(dir + "/supervisor.log");
  EXPECT_NE(log.find("host " + host + ": the GPU driver: no answer"), std::string::npos) << log;
}

TEST_F(HangingGpus, NeitherHeadNorNodeOfASpreadRunIsLost) {
  script("gpus 8\nhang nvmlInit_v2\n");
  const std::string released = folder_.file("released");
  const std::string dir = start_spread(spread_script("while ! [ -e '" + released + "' ]; do sleep 0.1; done"));
  for (const char* host : {"gpu1", "gpu2"}) {
    EXPECT_TRUE(eventually([&] {
      const auto lines = samples(dir, host);
      return !lines.empty() && !missing(lines.back(), "gpus").is_null();
    })) << host;
  }
  write_file(released, "");
  EXPECT_EQ(ended(dir)["phase"], "finished");
  EXPECT_TRUE(events(dir, "node_lost").empty());
}

/// A file system whose server never answers: FUSE's protocol begins with a request that is never
/// read here.
class DeafMount {
 public:
  explicit DeafMount(const std::string& path) : path_(path), server_(::open("/dev/fuse", O_RDWR | O_CLOEXEC)) {
    std::filesystem::create_directory(path);
    const std::string options = "fd=" + std::to_string(server_.get()) + ",rootmode=40000,user_id=0,group_id=0";
    mounted_ = server_ && ::mount("deaf", path.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) == 0;
    error_ = errno;
  }
  ~DeafMount() {
    heal();
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  DeafMount(const DeafMount&) = delete;
  DeafMount& operator=(const DeafMount&) = delete;
  bool mounted() const { return mounted_; }
  int error() const { return error_; }
  /// The server goes away: what waits for it fails.
  void heal() { server_ = Descriptor(); }

 private:
  std::string path_;
  Descriptor server_;
  bool mounted_ = false;
  int error_ = 0;
};

TEST(HangingDisk, FreeSpaceThatNobodyTellsIsAnErrorAndOtherCallsAreAnswered) {
  const TemporaryFolder folder;
  const std::string path = folder.file("mount");
  DeafMount mount(path);
  if (!mount.mounted()) GTEST_SKIP() << "cannot mount a FUSE file system here: " << std::strerror(mount.error());
  Client client("export HOME='" + path + "'; ");
  const Json error = client.error("disk.free", {{"path", path}});
  EXPECT_EQ(error["code"], 3);
  const std::string message = error["message"].get<std::string>();
  EXPECT_NE(message.find("file system of " + path + " on " + host_name()), std::string::npos) << message;
  EXPECT_GT(client.call("disk.free", {{"path", "/"}})["total"].get<uint64_t>(), 0U);

  Json sample;
  EXPECT_TRUE(eventually([&] {
    sample = client.call("host.sample");
    return sample.contains("missing");
  }));
  EXPECT_EQ(sample["disk_free"], nullptr);
  EXPECT_EQ(sample["missing"][0]["what"], "disk");
  EXPECT_EQ(sample["missing"][0]["path"], path);
  EXPECT_EQ(sample["missing"][0]["reason"], "no answer");
  EXPECT_EQ(client.close(), 0);
}

}  // namespace
}  // namespace trainyard::test
