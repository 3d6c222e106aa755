#include "agent/run/folder/shared_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "agent/messages/json.h"
#include "agent/run/folder/run_content.h"
#include "agent/system/paths.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kCode = "code/";
constexpr std::string_view kPart = ".trainyard.part-";
/// Of one machine alone, or on every node already.
constexpr std::array<std::string_view, 6> kOwnFolders{"nodes", "heartbeats", "processes", "mirror", "former", "code"};

/// Below the run folder.
std::array<std::string, 2> roots_of(const std::string& share) { return {share, std::string(kCode) + share}; }

/// Which of them `path` is below; empty: neither.
std::string root_of(const std::string& share, const std::string& path) {
  for (const std::string& root : roots_of(share)) {
    if (path.starts_with(root + "/")) return root;
  }
  return "";
}

/// The path that a link leads to.
std::string target_of(const MirroredFile& link) {
  return (fs::path(link.path).parent_path() / link.link).lexically_normal().string();
}

}  // namespace

std::string why_not_shared(const std::string& share) {
  if (!has_safe_parts(share)) return "must be a folder relative to the run's folder, without '..'";
  const std::string first = share.substr(0, share.find('/'));
  if (std::ranges::find(kOwnFolders, first) == kOwnFolders.end()) return "";
  return "must not begin with '" + first + "', a folder of the run's own";
}

bool is_shared(const std::string& share, const std::string& path) {
  const bool is_part = fs::path(path).filename().string().starts_with(kPart);
  return has_safe_parts(path) && !root_of(share, path).empty() && !is_part && !is_temporary(path) && !is_run_file(path);
}

std::string shared_part(const RunFolder& folder, const std::string& share, const std::string& path,
                        const std::string& host) {
  return folder.file(root_of(share, path) + "/" + std::string(kPart) + host);
}

void remove_shared_parts(const RunFolder& folder, const std::string& share, const std::string& host) {
  for (const std::string& root : roots_of(share)) {
    const std::string part = shared_part(folder, share, root + "/file", host);
    if (::unlink(part.c_str()) != 0 && errno != ENOENT) throw file_error("remove", part);
  }
}

std::vector<MirroredFile> list_shared(const RunFolder& folder, const std::string& share) {
  std::vector<MirroredFile> files;
  for (const std::string& root : roots_of(share)) {
    if (!folder_exists(folder.file(root))) continue;
    const auto accepts = [&](const std::string& path) { return is_shared(share, path); };
    for (MirroredFile& file : list_files_below(folder.dir(), root + "/", accepts)) {
      if (file.link.empty() || accepts(target_of(file))) files.push_back(std::move(file));
    }
  }
  return files;
}

SharedRecord::SharedRecord(const RunFolder& folder) : folder_(folder) {
  const auto json = read_json_object(folder.file("share.json"));
  const Json files = json ? json->value("files", Json::array()) : Json::array();
  if (!files.is_array()) return;
  for (const Json& one : files) {
    const bool is_file = one.is_array() && one.size() == 3 && one[0].is_string() && one[1].is_number_unsigned() &&
                         one[2].is_number_integer();
    if (is_file) add(one[0].get<std::string>(), one[1].get<uint64_t>(), one[2].get<int64_t>());
  }
}

void SharedRecord::write() const {
  Json files = Json::array();
  for (const auto& [path, file] : files_) files.push_back({path, file.size, file.time});
  replace_file(folder_.file("share.json"), to_line({{"files", files}}) + "\n");
}

bool SharedRecord::has_below(const std::string& folder) const {
  const auto first = files_.lower_bound(folder + "/");
  return first != files_.end() && first->first.starts_with(folder + "/");
}

bool SharedRecord::is_unchanged(const std::string& path) const {
  const auto file = files_.find(path);
  struct stat info{};
  if (file == files_.end() || ::lstat(folder_.file(path).c_str(), &info) != 0) return false;
  const auto& [size, time] = file->second;
  if (S_ISLNK(info.st_mode)) return time == 0;
  return S_ISREG(info.st_mode) && static_cast<uint64_t>(info.st_size) == size && time_written(info) == time;
}

std::vector<MirroredFile> SharedRecord::unchanged() const {
  std::vector<MirroredFile> files;
  for (const auto& [path, file] : files_) {
    if (is_unchanged(path)) files.push_back({path, file.size, file.time});
  }
  return files;
}

}  // namespace trainyard
