#include "agent/gpus/gpu_locks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "agent/messages/rpc_error.h"
#include "agent/system/clock.h"
#include "agent/system/paths.h"
#include "common/error.h"
#include "common/process.h"

namespace trainyard {

namespace {

constexpr double kPatience = 0.3;  // whoever only looks holds a lock for a moment
constexpr int64_t kMostGpus = 1024;

std::string file_name(const GpuName& gpu) {
  if (gpu.uuid.empty()) return "gpu-" + std::to_string(gpu.index);
  std::string name = gpu.uuid;
  for (char& letter : name) {
    const bool plain = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                       (letter >= 'A' && letter <= 'Z') || letter == '-';
    if (!plain) letter = '_';
  }
  return name;
}

/// Without one where somebody else holds it. Throws file_error.
std::optional<Descriptor> try_to_lock(const std::string& path) {
  const double deadline = monotonic_seconds() + kPatience;
  for (;;) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) throw file_error("open", path);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      if (is_the_file_at(file, path)) return file;
      continue;  // it was removed meanwhile, by a cleaner of old files
    }
    if (errno != EWOULDBLOCK) throw file_error("lock", path);
    if (monotonic_seconds() >= deadline) return std::nullopt;
    sleep_ms(10);
  }
}

void write_holder(int file, const GpuHolder& holder) {
  const Json said{
      {"run", holder.run}, {"dir", holder.dir}, {"host", host_name()}, {"pid", ::getpid()}, {"since", now_seconds()}};
  if (::ftruncate(file, 0) != 0 || ::lseek(file, 0, SEEK_SET) != 0) throw file_error("write", "the lock of a GPU");
  write_all(file, to_line(said) + "\n", "the lock of a GPU");
}

}  // namespace

std::string holder_words(const Json& holder) {
  if (!holder.is_object()) return "a run that starts in this moment";
  const std::string run = holder.value("run", ""), process = std::to_string(holder.value("pid", 0));
  return (run.empty() ? "a run that is being started" : "run " + run) + " (process " + process + ")";
}

std::vector<GpuName> gpu_names(const Json& list, const std::string& where) {
  if (!list.is_array() || list.empty()) throw FieldError(where + " must be a list of GPUs");
  std::vector<GpuName> gpus;
  for (const Json& one : list) {
    const Fields fields(one, where);
    const GpuName gpu{static_cast<int>(fields.integer("index", 0, kMostGpus - 1)), fields.string("uuid")};
    if (gpu.uuid.size() > 100) throw FieldError(where + ".uuid is none");
    for (const GpuName& other : gpus) {
      if (file_name(other) == file_name(gpu)) {
        throw FieldError(where + " names GPU " + std::to_string(gpu.index) + " twice");
      }
    }
    gpus.push_back(gpu);
  }
  return gpus;
}

GpuLocks::GpuLocks(const std::vector<GpuName>& gpus, const GpuHolder& holder, const std::string& folder) {
  make_private_folders(folder);
  for (const GpuName& gpu : gpus) {
    std::optional<Descriptor> lock = try_to_lock(folder + "/" + file_name(gpu));
    if (!lock) {
      throw RpcError(RpcCode::taken, "GPU " + std::to_string(gpu.index) + " of " + host_name() + " is held by " +
                                         holder_words(holder_of(gpu, folder)) +
                                         ". Wait for its end, or name another GPU");
    }
    write_holder(lock->get(), holder);
    held_.push_back(std::move(*lock));
  }
}

GpuLocks GpuLocks::passed_on(const std::string& descriptors) {
  GpuLocks locks;
  for (size_t begin = 0; begin < descriptors.size();) {
    const size_t end = std::min(descriptors.find(',', begin), descriptors.size());
    int number = -1;
    const auto read = std::from_chars(descriptors.data() + begin, descriptors.data() + end, number);
    const bool whole = read.ec == std::errc() && read.ptr == descriptors.data() + end && number > 2;
    if (!whole || ::fcntl(number, F_SETFD, FD_CLOEXEC) != 0) {
      throw Error(Exit::usage, "--gpu-locks must list open descriptors, not " + descriptors);
    }
    locks.held_.emplace_back(number);
    begin = end + 1;
  }
  return locks;
}

std::vector<int> GpuLocks::descriptors() const {
  std::vector<int> numbers;
  for (const Descriptor& one : held_) numbers.push_back(one.get());
  return numbers;
}

std::vector<std::string> GpuLocks::words() const {
  std::string list;
  for (const Descriptor& one : held_) list += (list.empty() ? "" : ",") + std::to_string(one.get());
  if (list.empty()) return {};
  return {"--gpu-locks", list};
}

void GpuLocks::say(const GpuHolder& holder) const {
  for (const Descriptor& one : held_) write_holder(one.get(), holder);
}

void GpuLocks::add(GpuLocks other) {
  for (Descriptor& one : other.held_) held_.push_back(std::move(one));
}

void GpuLocks::give_back() {
  for (const Descriptor& one : held_) ::flock(one.get(), LOCK_UN);
  held_.clear();
}

Json holder_of(const GpuName& gpu, const std::string& folder) {
  const std::string path = folder + "/" + file_name(gpu);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file || ::flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return nullptr;
  const auto said = read_json_object(path);
  return said ? *said : Json{{"run", ""}, {"dir", ""}, {"host", host_name()}, {"pid", 0}, {"since", now_seconds()}};
}

}  // namespace trainyard
