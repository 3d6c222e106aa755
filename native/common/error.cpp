#include "common/error.h"

#include <cerrno>
#include <system_error>

namespace trainyard {

std::string errno_message(const std::string& path) { return path + ": " + std::generic_category().message(errno); }

namespace {

/// What to do about the current errno.
const char* file_advice() {
  switch (errno) {
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
  const std::string advice = file_advice();
  return Error(Exit::data, "cannot " + action + " " + errno_message(path) + ". " + advice);
}

}  // namespace trainyard
