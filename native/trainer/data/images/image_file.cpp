#include "trainer/data/images/image_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/error.h"
#include "common/files.h"
#include "trainer/data/images/image.h"

namespace trainyard {

namespace {

/// Of a file that open() did not find. One that was removed, or a link that leads nowhere, is an
/// image like any other that is none; where its class's folder went with it, it is the disk that is
/// gone.
[[noreturn]] void explain_missing(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::access(folder.c_str(), F_OK) == 0) throw BadImage("there is no such file (any more)");
  if (errno != ENOENT) throw file_error("look at", folder);
  throw Error(Exit::data, "the folder " + folder + " is no longer there. Check that its disk is still mounted",
              Retry::worthwhile);
}

}  // namespace

std::string read_image_file(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && (errno == ENOENT || errno == ELOOP)) explain_missing(path);
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0) throw file_error("read", path);
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(fd.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error("read", path);
    if (got == 0) break;  // it was cut short meanwhile
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace trainyard
