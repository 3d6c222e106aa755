#include "agent/system/paths.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "agent/messages/json.h"
#include "agent/system/ownership.h"
#include "common/error.h"

namespace trainyard {

namespace fs = std::filesystem;

std::string home_folder() {
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return home;
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "/";
}

std::string expand_path(const std::string& path) {
  if (path == "~") return home_folder();
  if (path.starts_with("~/")) return home_folder() + path.substr(1);
  if (!path.starts_with('/')) throw FieldError("path '" + path + "' must be absolute or start with ~/");
  return path;
}

bool file_exists(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool folder_exists(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_gone(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

namespace {

void make_missing(const std::string& path) {
  if (folder_exists(path)) return;
  const std::string parent = fs::path(path).parent_path().string();
  if (!parent.empty() && parent != path) make_missing(parent);
  if (::mkdir(path.c_str(), 0700) != 0 && !(errno == EEXIST && folder_exists(path))) {
    throw file_error("create folder", path);
  }
}

}  // namespace

void make_private_folders(const std::string& path) {
  require_own(path);
  if (folder_exists(path)) return;
  make_missing(path);
  require_own(path);
}

std::string canonical_path(const std::string& path) {
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  return failed ? path : real.string();
}

std::string own_executable() { return canonical_path("/proc/self/exe"); }

}  // namespace trainyard
