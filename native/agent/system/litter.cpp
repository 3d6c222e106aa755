#include "agent/system/litter.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "common/error.h"
#include "common/files.h"
#include "common/process.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSharedMemory = "mpich_shm_";           // MPICH: mpich_shm_<hex>_<number>
constexpr std::string_view kDescription = "hydra_hwloc_xmlfile_";  // Hydra's proxy: hydra_hwloc_xmlfile_<6 letters>
constexpr const char* kProxy = "hydra_pmi_proxy";
constexpr double kClockSeconds = 2;  // two clocks are compared, and whole seconds

struct Candidate {
  std::string path;
  double made = 0;  ///< seconds since the epoch
  bool of_proxy = false;
};

void collect(const std::string& folder, std::string_view beginning, double newest, std::vector<Candidate>& found) {
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    struct stat info{};
    if (!name.starts_with(beginning) || ::lstat(entry->path().c_str(), &info) != 0) continue;
    const auto made = static_cast<double>(info.st_mtim.tv_sec);
    if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid() || made > newest) continue;
    found.push_back({entry->path().string(), made, beginning == kDescription});
  }
}

std::string proc_text(const std::string& folder, const char* name) {
  try {
    return read_file(folder + "/" + name);
  } catch (const Error&) {
    return "";  // gone, or not ours
  }
}

/// Seconds since the epoch; nothing when it is gone.
std::optional<double> started(int pid) {
  const std::optional<uint64_t> start = process_start_time(pid);
  if (!start) return std::nullopt;
  timespec boot{};
  ::clock_gettime(CLOCK_BOOTTIME, &boot);
  const double since_boot = static_cast<double>(*start) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return now_seconds() - (static_cast<double>(boot.tv_sec) - since_boot);
}

bool has_open(const std::string& process, const std::string& path) {
  std::error_code failed;
  for (fs::directory_iterator entry(process + "/fd", failed), end; !failed && entry != end; entry.increment(failed)) {
    std::error_code gone;
    if (fs::read_symlink(entry->path(), gone) == path && !gone) return true;
  }
  return false;
}

/// Takes away the candidates that this process uses, or may have made.
void spare(int pid, std::vector<Candidate>& candidates) {
  const std::string process = "/proc/" + std::to_string(pid);
  struct stat info{};
  if (::stat(process.c_str(), &info) != 0 || info.st_uid != ::geteuid()) return;
  const std::string maps = proc_text(process, "maps"), environment = proc_text(process, "environ");
  const bool is_proxy = proc_text(process, "comm") == std::string(kProxy) + "\n";
  const std::optional<double> since = is_proxy ? started(pid) : std::nullopt;
  std::erase_if(candidates, [&](const Candidate& one) {
    return maps.find(one.path) != std::string::npos || environment.find(one.path) != std::string::npos ||
           (one.of_proxy && since && *since - kClockSeconds <= one.made) || has_open(process, one.path);
  });
}

}  // namespace

std::vector<std::string> remove_litter(const LitterPlaces& places) {
  std::vector<Candidate> candidates;
  const double newest = now_seconds() - places.youngest;
  collect(places.shared_memory, kSharedMemory, newest, candidates);
  collect(places.temporary, kDescription, newest, candidates);
  std::error_code failed;
  for (fs::directory_iterator entry("/proc", failed), end; !failed && !candidates.empty() && entry != end;
       entry.increment(failed)) {
    const int pid = std::atoi(entry->path().filename().c_str());
    if (pid > 0) spare(pid, candidates);
  }
  std::vector<std::string> removed;
  if (failed) return removed;  // not every process was seen
  for (const Candidate& one : candidates) {
    if (::unlink(one.path.c_str()) == 0) removed.push_back(one.path);
  }
  return removed;
}

}  // namespace trainyard
