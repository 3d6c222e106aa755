#include "trainer/train/process/heartbeat.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "common/error.h"
#include "common/process.h"

namespace trainyard {
namespace {

constexpr size_t kWidth = 128;

std::string heartbeat_folder(const std::string& run_dir) {
  const char* given = std::getenv("TRAINYARD_HEARTBEAT_DIR");
  return given != nullptr ? given : run_dir + "/heartbeats";
}

}  // namespace

Heartbeat::Heartbeat(const std::string& run_dir, const std::string& name) {
  const std::string folder = heartbeat_folder(run_dir);
  std::filesystem::create_directories(folder);
  path_ = folder + "/" + name;
  fd_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!fd_) throw file_error("open", path_);
}

void Heartbeat::beat(int64_t step, const char* phase) {
  std::array<char, kWidth + 1> line{};
  const int length = std::snprintf(line.data(), kWidth, R"({"step":%lld,"time":%.3f,"phase":"%s"})",
                                   static_cast<long long>(step), now_seconds(), phase);
  for (size_t i = static_cast<size_t>(length); i < kWidth - 1; ++i) line[i] = ' ';
  line[kWidth - 1] = '\n';
  if (::pwrite(fd_.get(), line.data(), kWidth, 0) == static_cast<ssize_t>(kWidth)) return;
  const std::string message = errno_message(path_);
  if (!failed_.exchange(true)) std::fprintf(stderr, "trainer: warning: cannot write %s\n", message.c_str());
}

}  // namespace trainyard
