// RPC: hello, host.sample, disk.free.
#include <gnu/libc-version.h>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/gpus/gpu_locks.h"
#include "agent/gpus/gpu_queue.h"
#include "agent/messages/version.h"
#include "agent/rpc/rpc.h"
#include "agent/system/clock.h"
#include "agent/system/paths.h"
#include "common/error.h"
#include "common/process.h"

namespace trainyard {

namespace {

std::string user_name() {
  const passwd* user = ::getpwuid(::geteuid());
  return user != nullptr ? user->pw_name : std::to_string(::geteuid());
}

Answer hello(const Fields&, ServeContext&) {
  utsname system{};
  ::uname(&system);
  return Json{{"version", kAgentVersion},
              {"host", host_name()},
              {"user", user_name()},
              {"home", home_folder()},
              {"pid", ::getpid()},
              {"bootId", boot_id()},
              {"cores", ::sysconf(_SC_NPROCESSORS_ONLN)},
              {"memoryTotal", host_memory().total},
              {"glibc", ::gnu_get_libc_version()},
              {"kernel", system.release}};
}

class SampleJob : public Job {
 public:
  explicit SampleJob(HostSampler& sampler) : sampler_(sampler), asked_(sampler.ask()) {}
  std::optional<Json> step() override {
    if (!sampler_.ready(asked_, kFirstPatience)) return std::nullopt;
    Json sample = sampler_.sample();
    for (Json& gpu : sample["gpus"]) gpu["held_by"] = holder_of({gpu.value("index", 0), gpu.value("uuid", "")});
    sample["waiting"] = waiting_starts();
    return sample;
  }

 private:
  static constexpr double kFirstPatience = 15;  // seconds: eight GPUs that sleep wake up one after the other

  HostSampler& sampler_;
  double asked_;
};

class DiskJob : public Job {
 public:
  DiskJob(Figures& figures, const std::string& path)
      : figures_(figures), question_{Question::What::disk, path}, asked_(monotonic_seconds()) {
    if (figures.of(question_).open_since == 0 && figures.open() >= kMostOpen) {
      throw Error(Exit::data, "the free space of " + path + " on " + host_name() + " is not asked for: " +
                                  std::to_string(kMostOpen) + " file systems give no answer. Look at their servers");
    }
    figures.ask(question_);
  }

  std::optional<Json> step() override {
    figures_.take();
    const Figure& figure = figures_.of(question_);
    if (figure.answered >= asked_) {
      if (!figure.error.empty()) throw Error(Exit::data, figure.error);
      return figure.value;
    }
    if (monotonic_seconds() - asked_ < kDiskPatience) return std::nullopt;
    throw Error(Exit::data, "the file system of " + question_.path + " on " + host_name() +
                                " has given no answer for " +
                                std::to_string(static_cast<int>(now_seconds() - figure.missing_since)) +
                                " s. Look at its server, or choose another folder");
  }

 private:
  static constexpr double kDiskPatience = 5;  // seconds
  static constexpr size_t kMostOpen = 16;

  Figures& figures_;
  Question question_;
  double asked_;
};

Answer host_sample(const Fields&, ServeContext& context) { return std::make_unique<SampleJob>(context.sampler); }

Answer disk_free(const Fields& params, ServeContext& context) {
  return std::make_unique<DiskJob>(context.sampler.figures(), expand_path(params.string("path")));
}

}  // namespace

void add_host_methods(MethodTable& table) {
  table["hello"] = hello;
  table["host.sample"] = host_sample;
  table["disk.free"] = disk_free;
}

}  // namespace trainyard
