// Loaded into mpiexec alone (LD_PRELOAD): its control port becomes a socket that it inherited from
// the supervisor, so no port is opened at all. The supervisor sends each connection of a proxy over
// that socket (SCM_RIGHTS). TRAINYARD_CONTROL_FD names the socket, a SOCK_SEQPACKET of AF_UNIX.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int channel = -1;   // from the supervisor; -1: nothing is to be changed
static int listener = -1;  // mpiexec's number for the control port, once it has bound one

/// The first word of LD_PRELOAD is this library, which no other program is to load.
static void take_out_of_environment(void) {
  const char* preload = getenv("LD_PRELOAD");
  const char* rest = preload == NULL ? NULL : strchr(preload, ':');
  char* kept = rest == NULL || rest[1] == '\0' ? NULL : strdup(rest + 1);
  kept == NULL ? unsetenv("LD_PRELOAD") : setenv("LD_PRELOAD", kept, 1);
  free(kept);
  unsetenv("TRAINYARD_CONTROL_FD");
}

__attribute__((constructor)) static void begin(void) {
  const char* number = getenv("TRAINYARD_CONTROL_FD");
  if (number == NULL) return;
  const int given = atoi(number);
  take_out_of_environment();
  channel = given;
  // The supervisor ends a mpiexec that does not say this.
  if (send(given, "loaded", 6, MSG_NOSIGNAL) != 6) _exit(126);
}

static int is_internet(const struct sockaddr* address, socklen_t size) {
  return address != NULL && size >= sizeof(sa_family_t) &&
         (address->sa_family == AF_INET || address->sa_family == AF_INET6);
}

__attribute__((visibility("default"))) int bind(int fd, const struct sockaddr* address, socklen_t size) {
  if (channel < 0 || !is_internet(address, size)) return (int)syscall(SYS_bind, fd, address, size);
  if (listener >= 0) {  // a second port is none of ours, and none is opened
    errno = EACCES;
    return -1;
  }
  if (syscall(SYS_dup3, channel, fd, 02000000 /* O_CLOEXEC */) < 0) return -1;
  close(channel);
  listener = fd;
  return 0;
}

__attribute__((visibility("default"))) int listen(int fd, int backlog) {
  return fd == listener && fd >= 0 ? 0 : (int)syscall(SYS_listen, fd, backlog);
}

__attribute__((visibility("default"))) int getsockname(int fd, struct sockaddr* address, socklen_t* size) {
  if (fd != listener || fd < 0) return (int)syscall(SYS_getsockname, fd, address, size);
  struct sockaddr_in said;
  memset(&said, 0, sizeof said);
  said.sin_family = AF_INET;
  said.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  said.sin_port = htons(1);  // a number for the proxies' command line, which no program connects to
  const socklen_t most = *size < sizeof said ? *size : (socklen_t)sizeof said;
  memcpy(address, &said, most);
  *size = sizeof said;
  return 0;
}

__attribute__((visibility("default"))) int accept(int fd, struct sockaddr* address, socklen_t* size) {
  if (fd != listener || fd < 0) return (int)syscall(SYS_accept, fd, address, size);
  char text[16];
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } space;
  struct iovec part = {text, sizeof text};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space.bytes;
  message.msg_controllen = sizeof space.bytes;
  ssize_t got = -1;
  do {
    got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  const struct cmsghdr* header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (header == NULL || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
    if (got >= 0) errno = ECONNABORTED;
    return -1;
  }
  int connection = -1;
  memcpy(&connection, CMSG_DATA(header), sizeof connection);
  return connection;
}

__attribute__((visibility("default"))) int setsockopt(int fd, int level, int name, const void* value, socklen_t size) {
  const int done = (int)syscall(SYS_setsockopt, fd, level, name, value, size);
  const int refused = done < 0 && (errno == EOPNOTSUPP || errno == ENOPROTOOPT);
  return refused && level == IPPROTO_TCP && channel >= 0 ? 0 : done;  // a connection of AF_UNIX waits for no ACK
}
