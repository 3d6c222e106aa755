#include "agent/tensorboard/tensorboard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "agent/messages/joined.h"
#include "agent/messages/json.h"
#include "agent/system/clock.h"
#include "agent/system/kill.h"
#include "agent/system/ownership.h"
#include "agent/system/paths.h"
#include "agent/system/spawn.h"
#include "agent/system/tail.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr double kStartSeconds = 90;  // a cold Python on a network file system is slow
constexpr double kGraceSeconds = 3;

std::string socket_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/' && folder_exists(runtime) && !stranger_on_the_way(runtime)) {
    return std::string(runtime) + "/trainyard";
  }
  return "/tmp/trainyard-" + std::to_string(::geteuid());
}

/// A name that is the same for the same folder and short enough for a socket's address: FNV-1a, 64
/// bits.
std::string socket_path(const RunFolder& folder) {
  uint64_t hash = 14695981039346656037ULL;
  for (const char letter : folder.dir()) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
  char name[32];
  std::snprintf(name, sizeof name, "/tb-%016llx.sock", static_cast<unsigned long long>(hash));
  return socket_folder() + name;
}

/// Throws Error where another user could put a socket in the place of ours.
void require_own_folder_of(const std::string& socket) {
  const auto stranger = stranger_on_the_way(std::filesystem::path(socket).parent_path().string());
  if (!stranger) return;
  throw Error(Exit::device, "TensorBoard's socket is not safe: " + *stranger +
                                ". Or set XDG_RUNTIME_DIR on this node to a folder of your own");
}

std::string last_words(const RunFolder& folder) {
  const std::string text = joined(last_lines(folder.log("tensorboard"), 3), " / ");
  return text.empty() ? "it said nothing" : text;
}

}  // namespace

std::optional<TensorboardProcess> living_tensorboard(const RunFolder& folder) {
  const auto json = read_json_object(folder.tensorboard());
  if (!json) return std::nullopt;
  try {
    const Fields fields(*json, "tensorboard.json");
    TensorboardProcess named{{static_cast<int>(fields.integer("pid", 2, 1 << 30)),
                              static_cast<uint64_t>(fields.integer("startTime", 1, INT64_MAX))},
                             fields.string("socket")};
    if (fields.string("bootId") == boot_id() && is_alive(named.process)) return named;
    return std::nullopt;
  } catch (const FieldError&) {
    return std::nullopt;  // written by something else: not one of ours
  }
}

bool socket_answers(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const Descriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
  ucred server{};
  socklen_t length = sizeof server;
  return ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &server, &length) == 0 && server.uid == ::geteuid();
}

TensorboardStart::TensorboardStart(const RunFolder& folder, const TensorboardOptions& options)
    : folder_(folder), deadline_(monotonic_seconds() + kStartSeconds) {
  // One at a time: the run's supervisor and a client often ask in the same second.
  const Descriptor lock(::open(folder.file("tensorboard.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) throw file_error("open", folder.file("tensorboard.lock"));
  ::flock(lock.get(), LOCK_EX);
  if (const auto living = living_tensorboard(folder)) {
    started_ = *living;
    return;
  }
  make_private_folders(folder.file("logs"));
  Command command;
  started_.socket = socket_path(folder);
  require_own_folder_of(started_.socket);
  command.argv = {options.python, options.server,  "--logdir", folder.dir(),
                  "--socket",     started_.socket, "--idle",   std::to_string(static_cast<long long>(options.idle))};
  command.env = clean_environment();
  command.cwd = folder.dir();
  command.log = folder.log("tensorboard");
  started_.process = start_detached(command);
  const Json record{{"pid", started_.process.pid},
                    {"startTime", started_.process.start_time},
                    {"bootId", boot_id()},
                    {"socket", started_.socket}};
  try {
    replace_file(folder.tensorboard(), to_line(record) + "\n");
  } catch (const Error&) {  // one without a record is found by nobody, and could not be stopped
    signal_process(started_.process, SIGKILL);
    throw;
  }
}

std::optional<TensorboardProcess> TensorboardStart::step() {
  const bool alive = is_alive(started_.process);
  require_own_folder_of(started_.socket);
  if (alive && socket_answers(started_.socket)) return started_;
  if (!alive)
    throw Error(Exit::device, "TensorBoard did not start: " + last_words(folder_) + ". See logs/tensorboard.log");
  if (monotonic_seconds() >= deadline_) {
    signal_process(started_.process, SIGKILL);
    throw Error(Exit::device, "TensorBoard did not serve within 90 s: " + last_words(folder_) + ". Start it again");
  }
  return std::nullopt;
}

TensorboardStop::TensorboardStop(const RunFolder& folder)
    : folder_(folder), running_(living_tensorboard(folder)), kill_at_(monotonic_seconds() + kGraceSeconds) {
  if (running_) signal_process(running_->process, SIGTERM);
}

bool TensorboardStop::step() {
  if (running_ && is_alive(running_->process)) {
    if (monotonic_seconds() >= kill_at_) signal_process(running_->process, SIGKILL);
    return false;
  }
  if (running_) ::unlink(running_->socket.c_str());
  ::unlink(folder_.tensorboard().c_str());
  return true;
}

}  // namespace trainyard
