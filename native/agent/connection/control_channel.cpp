#include "agent/connection/control_channel.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "agent/system/clock.h"
#include "agent/system/kill.h"
#include "agent/system/paths.h"
#include "common/error.h"

namespace trainyard {

namespace {

constexpr int kLoadMs = 10'000;
constexpr int kAcceptMs = 1000;  // for mpiexec to take connections that wait

SocketPair make_pair_of(int type) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0) throw file_error("make", "a pair of sockets");
  SocketPair pair{Descriptor(ends[0]), Descriptor(ends[1])};
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) throw file_error("set up", "a pair of sockets");
  return pair;
}

}  // namespace

SocketPair make_stream_pair() { return make_pair_of(SOCK_STREAM); }

ControlChannel::ControlChannel() {
  const std::string path = (std::filesystem::path(own_executable()).parent_path() / "mpiexec_control.so").string();
  library_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!library_) throw file_error("open", path);
  SocketPair pair = make_pair_of(SOCK_SEQPACKET);
  ours_ = std::move(pair.ours);
  theirs_ = std::move(pair.theirs);
}

void ControlChannel::add_to(Command& mpiexec) const {
  // By its descriptor: LD_PRELOAD takes a blank or a colon in a path for its own separator.
  std::string preload = "/proc/self/fd/" + std::to_string(library_.get());
  const auto given = mpiexec.env.find("LD_PRELOAD");
  if (given != mpiexec.env.end() && !given->second.empty()) preload += ":" + given->second;
  mpiexec.env["LD_PRELOAD"] = preload;
  mpiexec.env["TRAINYARD_CONTROL_FD"] = std::to_string(theirs_.get());
  mpiexec.passed = {library_.get(), theirs_.get()};
}

void ControlChannel::await_loaded(const ProcessId& mpiexec) {
  theirs_ = Descriptor();  // mpiexec has it, so the end of mpiexec is seen here
  library_ = Descriptor();
  const double deadline = monotonic_seconds() + kLoadMs / 1000.0;
  char text[16];
  for (double now; (now = monotonic_seconds()) < deadline;) {
    pollfd end{ours_.get(), POLLIN, 0};
    if (::poll(&end, 1, static_cast<int>((deadline - now) * 1000) + 1) < 1) continue;
    if (::recv(ours_.get(), text, sizeof text, 0) == 6 && std::memcmp(text, "loaded", 6) == 0) return;
    break;
  }
  signal_process(mpiexec, SIGKILL);
  throw Error(Exit::internal,
              "mpiexec did not load mpiexec_control.so, without which others could reach its control port. See the "
              "beginning of logs/mpiexec.log, and install Trainyard's programs on this node again");
}

Descriptor ControlChannel::connect() const {
  SocketPair pair = make_stream_pair();
  char text = 'c';
  iovec part{&text, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int handed = pair.theirs.get();
  std::memcpy(CMSG_DATA(header), &handed, sizeof handed);
  ssize_t sent = ::sendmsg(ours_.get(), &message, MSG_NOSIGNAL);
  if (sent < 0 && errno == EAGAIN) {  // hundreds of others wait there
    pollfd end{ours_.get(), POLLOUT, 0};
    ::poll(&end, 1, kAcceptMs);
    sent = ::sendmsg(ours_.get(), &message, MSG_NOSIGNAL);
  }
  if (sent != 1) throw file_error("connect to", "mpiexec");
  return std::move(pair.ours);
}

}  // namespace trainyard
