#include "agent/gpus/gpu_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace trainyard {

std::string gpu_locks_folder() {
  const char* given = std::getenv(kGpuLocksVariable);
  if (given != nullptr && *given != '\0') return given;
  return "/tmp/trainyard-gpus-" + std::to_string(::geteuid());
}

std::string slots_folder(const std::string& group) { return gpu_locks_folder() + "/slots/" + group; }

bool is_the_file_at(const Descriptor& file, const std::string& path) {
  struct stat held{}, there{};
  return ::fstat(file.get(), &held) == 0 && ::stat(path.c_str(), &there) == 0 && held.st_dev == there.st_dev &&
         held.st_ino == there.st_ino;
}

}  // namespace trainyard
