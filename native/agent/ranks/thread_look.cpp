#include "agent/ranks/thread_look.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <future>
#include <memory>
#include <sstream>
#include <thread>

#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr auto kPatience = std::chrono::milliseconds(100);  // for the memory of another process

std::string proc(int pid) { return "/proc/" + std::to_string(pid); }

/// Empty where it cannot be read: the process is gone, or is another user's.
std::string text_of(const std::string& path) {
  try {
    return read_file(path);
  } catch (const Error&) {
    return {};
  }
}

std::string link_of(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  return length <= 0 ? "" : std::string(target.data(), static_cast<size_t>(length));
}

/// The part of a line of mountinfo that matters (proc(5)).
struct Mount {
  std::string id, point, type;
};

std::vector<Mount> mounts_of(int pid) {
  std::vector<Mount> mounts;
  std::istringstream lines(text_of(proc(pid) + "/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    Mount mount;
    std::string skipped;
    fields >> mount.id >> skipped >> skipped >> skipped >> mount.point;
    const size_t end = line.find(" - ");
    if (end == std::string::npos) continue;
    std::istringstream(line.substr(end + 3)) >> mount.type;
    mounts.push_back(mount);
  }
  return mounts;
}

std::string type_of_mount(int pid, const std::string& id) {
  for (const Mount& mount : mounts_of(pid)) {
    if (mount.id == id) return mount.type;
  }
  return {};
}

/// By the longest mount point that the path begins with. The path itself is not asked for: its disk
/// may hang.
std::string type_of_path(int pid, const std::string& path) {
  std::string type;
  size_t longest = 0;
  for (const Mount& mount : mounts_of(pid)) {
    const std::string folder = mount.point.ends_with('/') ? mount.point : mount.point + "/";
    const bool holds = path.starts_with(folder) || path == mount.point;
    // Of two mounts at one point the later one counts.
    if (!holds || folder.size() < longest) continue;
    longest = folder.size();
    type = mount.type;
  }
  return type;
}

/// Up to the first 0.
std::string string_at(int pid, uint64_t address) {
  const Descriptor memory(::open((proc(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, PATH_MAX> bytes{};
  // Fewer bytes where the page behind it is not there.
  const ssize_t got = memory ? ::pread(memory.get(), bytes.data(), bytes.size(), static_cast<off_t>(address)) : 0;
  const char* end = std::find(bytes.data(), bytes.data() + std::max<ssize_t>(got, 0), '\0');
  return {bytes.data(), static_cast<size_t>(end - bytes.data())};
}

/// As above, by a thread of its own: a process whose memory another of its threads changes just
/// then, while that waits for a disk, holds whoever reads it.
std::string string_soon_at(int pid, uint64_t address) {
  static std::atomic<bool> reads = false;
  if (reads.exchange(true)) return {};  // one that was held still is
  auto task = std::make_shared<std::packaged_task<std::string()>>([pid, address] {
    std::string text = string_at(pid, address);
    reads = false;
    return text;
  });
  std::future<std::string> text = task->get_future();
  std::thread([task] { (*task)(); }).detach();
  return text.wait_for(kPatience) == std::future_status::ready ? text.get() : std::string();
}

}  // namespace

char state_of(int pid, int thread) {
  const std::string text = text_of(proc(pid) + "/task/" + std::to_string(thread) + "/stat");
  const size_t name_end = text.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= text.size() ? '?' : text[name_end + 2];
}

ThreadLook look_at_thread(int pid, int thread) {
  const std::string folder = proc(pid) + "/task/" + std::to_string(thread);
  ThreadLook look;
  look.state = state_of(pid, thread);
  if (look.state == 'R' || look.state == '?') return look;
  look.wait = text_of(folder + "/wchan");
  if (look.wait == "0") look.wait.clear();
  std::istringstream fields(text_of(folder + "/syscall"));
  long call = 0;
  if (!(fields >> call)) return look;  // "running", or it may not be read
  look.call = call;
  for (uint64_t& argument : look.arguments) {
    std::string word;
    if (call < 0 || !(fields >> word)) break;
    argument = std::strtoull(word.c_str(), nullptr, 16);
  }
  return look;
}

std::vector<int> threads_of(int pid, size_t most) {
  std::vector<int> threads;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir((proc(pid) + "/task").c_str()), ::closedir);
  if (!folder) return threads;
  while (const dirent* entry = ::readdir(folder.get())) {
    const int thread = std::atoi(entry->d_name);
    if (thread > 0) threads.push_back(thread);
    if (threads.size() >= most) break;
  }
  return threads;
}

int first_child_of(int pid) {
  return std::atoi(text_of(proc(pid) + "/task/" + std::to_string(pid) + "/children").c_str());
}

std::string name_of(int pid) {
  std::string name = text_of(proc(pid) + "/comm");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

std::optional<NamedFile> file_behind(int pid, uint64_t descriptor) {
  const std::string number = std::to_string(descriptor);
  NamedFile file{link_of(proc(pid) + "/fd/" + number), ""};
  if (file.path.empty()) return std::nullopt;
  std::istringstream lines(text_of(proc(pid) + "/fdinfo/" + number));
  std::string name, value;
  while (lines >> name >> value) {
    if (name == "mnt_id:") file.file_system = type_of_mount(pid, value);
  }
  return file;
}

std::optional<NamedFile> file_named_at(int pid, uint64_t address) {
  if (address == 0) return std::nullopt;
  NamedFile file{string_soon_at(pid, address), ""};
  if (file.path.empty()) return std::nullopt;
  if (file.path.starts_with('/')) file.file_system = type_of_path(pid, file.path);
  return file;
}

}  // namespace trainyard
