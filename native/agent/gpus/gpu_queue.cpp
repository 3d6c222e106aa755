#include "agent/gpus/gpu_queue.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "agent/messages/hmac.h"
#include "agent/system/ownership.h"
#include "agent/system/paths.h"
#include "common/error.h"
#include "common/process.h"

namespace trainyard {

namespace {

constexpr size_t kIdDigits = 32;
constexpr size_t kNameBytes = 16;
constexpr size_t kMostBy = 200;  // bytes
constexpr int64_t kMostGpus = 1024;
constexpr const char* kFresh = ".new";  // ends the name of a ticket that is being written
constexpr double kFreshSeconds = 60;    // after which its writer is taken for dead

std::string queue_of(const std::string& folder) { return folder + "/queue"; }

/// Open and locked. Others see it once it has this path, whole.
Descriptor locked_file(const std::string& path, const std::string& text) {
  const std::string fresh = path + kFresh;
  Descriptor file(::open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) throw file_error("make", fresh);
  try {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) throw file_error("lock", fresh);
    write_all(file.get(), text, fresh);
    if (::rename(fresh.c_str(), path.c_str()) != 0) throw file_error("rename", fresh);
  } catch (const Error&) {
    ::unlink(fresh.c_str());
    throw;
  }
  return file;
}

bool is_older(const std::string& path, double seconds) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && now_seconds() - static_cast<double>(info.st_mtim.tv_sec) > seconds;
}

/// Whether a living process holds it. Of a dead one it is removed.
bool is_held(const std::string& path) {
  for (;;) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file) return false;
    if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
    if (!is_the_file_at(file, path)) continue;  // its holder has just written it anew, or left
    ::unlink(path.c_str());
    return false;
  }
}

std::vector<std::string> ticket_files(const std::string& locks_folder) {
  const std::string folder = queue_of(locks_folder);
  if (stranger_on_the_way(folder)) return {};  // nothing there is ours; a start is refused, with the reason
  std::vector<std::string> paths;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string(), path = entry->path().string();
    if (is_hex(name, 2 * kNameBytes)) paths.push_back(path);
    if (name.ends_with(kFresh) && is_older(path, kFreshSeconds)) ::unlink(path.c_str());
  }
  return paths;
}

std::pair<int64_t, std::string> place_of(const Json& ticket) {
  return {ticket.value("number", int64_t{0}), ticket.value("ticket", "")};
}

}  // namespace

GpuTicket gpu_ticket(const Fields& params) {
  GpuTicket ticket{params.string("ticket"), {}, 0, params.optional_string("by").value_or("")};
  if (!is_hex(ticket.id, kIdDigits)) throw FieldError("params.ticket must be 32 hexadecimal digits");
  if (ticket.by.size() > kMostBy) throw FieldError("params.by must be 200 bytes or fewer");
  const Json* gpus = params.find("gpus");
  if (gpus == nullptr || !gpus->is_array() || gpus->empty()) throw FieldError("params.gpus must be a list of GPUs");
  for (const Json& gpu : *gpus) {
    const bool fits = gpu.is_number_integer() && gpu >= 0 && gpu < kMostGpus;
    const int index = fits ? gpu.get<int>() : -1;
    if (!fits || std::count(ticket.gpus.begin(), ticket.gpus.end(), index) > 0) {
      throw FieldError("params.gpus must list each GPU once, by its number");
    }
    ticket.gpus.push_back(index);
  }
  ticket.count = static_cast<int>(params.integer("count", 1, static_cast<int64_t>(ticket.gpus.size())));
  return ticket;
}

GpuQueue::~GpuQueue() {
  for (const auto& [id, held] : held_) ::unlink(held.path.c_str());
}

int64_t GpuQueue::enter(const GpuTicket& ticket, std::optional<int64_t> number) {
  make_private_folders(queue_of(folder_));
  const auto before = held_.find(ticket.id);
  Held held;
  held.path = before == held_.end() ? queue_of(folder_) + "/" + random_hex(kNameBytes) : before->second.path;
  held.since = before == held_.end() ? now_seconds() : before->second.since;
  if (number) {
    held.number = *number;
  } else if (before != held_.end()) {
    held.number = before->second.number;
  } else {
    const Json waiting = waiting_starts(folder_);
    held.number = waiting.empty() ? 1 : place_of(waiting.back()).first + 1;
  }
  const Json said{{"ticket", ticket.id}, {"number", held.number}, {"gpus", ticket.gpus}, {"count", ticket.count},
                  {"by", ticket.by},     {"host", host_name()},   {"pid", ::getpid()},   {"since", held.since}};
  held.file = locked_file(held.path, to_line(said) + "\n");
  const int64_t given = held.number;
  held_.insert_or_assign(ticket.id, std::move(held));
  return given;
}

void GpuQueue::leave(const std::string& id) {
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  if (::unlink(found->second.path.c_str()) != 0 && errno != ENOENT) throw file_error("remove", found->second.path);
  held_.erase(found);
}

bool comes_before(const Json& one, const Json& other) { return place_of(one) < place_of(other); }

Json waiting_starts(const std::string& folder) {
  std::vector<Json> tickets;
  for (const std::string& path : ticket_files(folder)) {
    if (!is_held(path)) continue;
    if (auto said = read_json_object(path)) tickets.push_back(std::move(*said));  // absent: it has just left
  }
  std::sort(tickets.begin(), tickets.end(), comes_before);
  return tickets;
}

}  // namespace trainyard
