#include "common/error.h"

#include <cerrno>
#include <system_error>

namespace trainyard {

Retry retry_after(int error_number) {
  switch (error_number) {
    case EIO:  // the disk itself, or a network disk mounted `soft` whose server is silent
    case EREMOTEIO:
    case ESTALE:
    case ENOTCONN:  // FUSE after its server has died
    case ETIMEDOUT:
    case ECONNRESET:
    case ECONNABORTED:
    case ECONNREFUSED:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETDOWN:
    case ENETUNREACH:
    case ENETRESET:
    case ESHUTDOWN:  // Lustre and CephFS evict a client so
    case ENOLINK:
    case ECOMM:
    case EPROTO:
      return Retry::worthwhile;
    default:
      return Retry::pointless;
  }
}

std::string errno_message(const std::string& path) { return path + ": " + std::generic_category().message(errno); }

namespace {

/// What to do about that errno.
const char* file_advice(int error_number) {
  switch (error_number) {
    case EFBIG:
      return "It would be larger than ulimit -f, or the file system, allows. Raise ulimit -f";
    case EMFILE:
      return "This process has as many files open as ulimit -n allows. Raise ulimit -n";
    case ENFILE:
      return "This machine has as many files open as it allows. Raise fs.file-max";
    default:
      return "Check that the path exists, its permissions and the free space";
  }
}

}  // namespace

Error file_error(const std::string& action, const std::string& path) {
  const int number = errno;  // before anything here allocates
  if (retry_after(number) == Retry::worthwhile) {
    return {Exit::data,
            "cannot " + action + " " + path + ": " + std::generic_category().message(number) +
                ". Check the disk or the server that holds it, and try again",
            Retry::worthwhile};
  }
  return {Exit::data, "cannot " + action + " " + path + ": " + std::generic_category().message(number) + ". " +
                          file_advice(number)};
}

}  // namespace trainyard
