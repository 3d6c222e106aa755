#include "common/error.h"

#include <cerrno>
#include <system_error>

namespace trainyard {

std::string errno_message(const std::string& path) { return path + ": " + std::generic_category().message(errno); }

Error file_error(const std::string& action, const std::string& path) {
  return Error(Exit::data, "cannot " + action + " " + errno_message(path) +
                               ". Check that the path exists, its permissions and the free space");
}

}  // namespace trainyard
