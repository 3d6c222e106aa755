#include "agent/system/ownership.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ranges>
#include <vector>

#include "common/error.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr int kMostLinks = 40;  // as the system's own limit
constexpr uint64_t kAllUsers = (uint64_t{1} << 32) - 1;

/// The owner that a user namespace shows for everybody whom it does not map; root where all are
/// mapped.
uid_t overflow_user() {
  uint64_t mapped = 0, inside = 0, outside = 0, count = 0;
  std::ifstream map("/proc/self/uid_map");
  while (map >> inside >> outside >> count) mapped += count;
  uid_t shown = 0;
  if (mapped == 0 || mapped >= kAllUsers || !(std::ifstream("/proc/sys/kernel/overflowuid") >> shown)) return 0;
  return shown;
}

std::string user_name(uid_t user) {
  const passwd* known = ::getpwuid(user);
  return "user " + (known != nullptr ? std::string(known->pw_name) : std::to_string(user));
}

/// Whether it is this user's group alone, of the user's own name, as most systems make one for
/// everybody.
bool is_private_group(gid_t gid) {
  const passwd* user = ::getpwuid(::getuid());
  if (user == nullptr || user->pw_gid != gid) return false;
  const std::string name = user->pw_name;
  const group* found = ::getgrgid(gid);
  if (found == nullptr || name != found->gr_name) return false;
  for (char** member = found->gr_mem; *member != nullptr; ++member) {
    if (name != *member) return false;
  }
  return true;
}

std::optional<std::string> stranger_at(const std::string& path, const struct stat& info, bool is_last) {
  if (info.st_uid != ::getuid() && info.st_uid != 0 && info.st_uid != overflow_user()) {
    return path + " belongs to " + user_name(info.st_uid) +
           ", not to you. Name another folder, or remove this one if you did not expect it";
  }
  const mode_t open_to = info.st_mode & (S_IWGRP | S_IWOTH);
  if (S_ISLNK(info.st_mode) || open_to == 0 || ((info.st_mode & S_ISVTX) != 0 && !is_last)) return std::nullopt;
  if (open_to == S_IWGRP && is_private_group(info.st_gid)) return std::nullopt;
  const std::string who = (open_to & S_IWOTH) != 0 ? "everybody" : "its group";
  const std::string letters = open_to == S_IWGRP ? "g" : open_to == S_IWOTH ? "o" : "go";
  return path + " may be written by " + who + ", who could put other files in the place of yours. " +
         (is_last ? "Run: chmod " + letters + "-w " + path + ", or name another folder"
                  : "Run: chmod +t " + path + " (or have its owner do so), or name another folder");
}

/// The parts of a path, the first one last.
std::vector<std::string> parts_of(const fs::path& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : path.relative_path()) {
    if (!part.empty() && part != ".") parts.push_back(part.string());
  }
  std::ranges::reverse(parts);
  return parts;
}

struct stat status_of(const fs::path& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) throw file_error("look at", path.string());
  return info;
}

}  // namespace

std::optional<std::string> stranger_on_the_way(const std::string& path) {
  std::vector<std::string> parts = parts_of(fs::path(path).lexically_normal());
  fs::path at = "/";
  auto found = stranger_at(at.string(), status_of(at), parts.empty());
  for (int links = 0; !parts.empty() && !found;) {
    const std::string part = parts.back();
    parts.pop_back();
    if (part == "..") {
      at = at.parent_path();
      continue;
    }
    const fs::path there = at / part;
    struct stat info{};
    if (::lstat(there.c_str(), &info) != 0) {
      if (errno == ENOENT) return std::nullopt;
      throw file_error("look at", there.string());
    }
    found = stranger_at(there.string(), info, parts.empty());
    if (!S_ISLNK(info.st_mode)) {
      at = there;
      continue;
    }
    if (++links > kMostLinks) {
      throw Error(Exit::usage, path + " leads through too many links. Name another folder");
    }
    const fs::path target = fs::read_symlink(there);
    if (target.is_absolute()) at = "/";
    const std::vector<std::string> more = parts_of(target);
    parts.insert(parts.end(), more.begin(), more.end());
  }
  return found ? found : stranger_at(at.string(), status_of(at), true);
}

void require_own(const std::string& path) {
  const auto stranger = stranger_on_the_way(path);
  if (stranger) throw Error(Exit::usage, *stranger);
}

}  // namespace trainyard
