#include "agent/run/folder/shared_files.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "agent/messages/json.h"
#include "agent/run/folder/run_content.h"
#include "agent/system/paths.h"
#include "common/error.h"
#include "common/files.h"
#include "common/process.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kCode = "code/";
constexpr std::string_view kPart = ".trainyard.part-";
constexpr size_t kLongestShare = 512;  // bytes: paths below it have 1024

/// Below the run folder.
std::array<std::string, 2> roots_of(const std::string& share) { return {share, std::string(kCode) + share}; }

/// Which of them `path` is below; empty: neither.
std::string root_of(const std::string& share, const std::string& path) {
  for (const std::string& root : roots_of(share)) {
    if (path.starts_with(root + "/")) return root;
  }
  return "";
}

bool is_utf8(const std::string& text) {
  try {
    return !Json(text).dump().empty();
  } catch (const Json::type_error&) {
    return false;
  }
}

}  // namespace

std::string why_not_shared(const std::string& share) {
  if (!has_safe_parts(share)) return "must be a folder relative to the run's folder, without '..'";
  if (share.size() > kLongestShare) return "must have 512 bytes at most";
  const std::string first = share.substr(0, share.find('/'));
  if (!is_local_folder(first) && first != "code") return "";
  return "must not begin with '" + first + "', a folder of the run's own";
}

bool is_shared(const std::string& share, const std::string& path) {
  const bool is_part = fs::path(path).filename().string().starts_with(kPart);
  // Such a run has none of our trainer's checkpoints: these names are the program's.
  const bool is_ours = is_run_file(path) && !path.starts_with("checkpoints/");
  return has_safe_parts(path) && !root_of(share, path).empty() && !is_part && !is_temporary(path) && !is_ours;
}

std::string shared_part(const RunFolder& folder, const std::string& share, const std::string& path,
                        const std::string& name) {
  return folder.file(root_of(share, path) + "/" + std::string(kPart) + name);
}

void remove_shared_parts(const RunFolder& folder, const std::string& share, const std::string& host) {
  for (const std::string& root : roots_of(share)) {
    if (!folder_exists(folder.file(root))) continue;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder.file(root), failed)) {
      const bool is_part = entry.path().filename().string().starts_with(std::string(kPart) + host + "-");
      if (is_part) fs::remove(entry.path(), failed);
      if (failed) break;
    }
    if (failed) throw Error(Exit::data, "cannot clear " + folder.file(root) + ": " + failed.message());
  }
}

void keep_former_share(const RunFolder& folder, const std::string& share) {
  if (!file_exists(folder.run()) || file_exists(folder.file("share.json"))) return;
  const std::string former = folder.file("former/" + std::to_string(static_cast<int64_t>(now_seconds())));
  for (const std::string& root : roots_of(share)) {
    if (!folder_exists(folder.file(root))) continue;
    const std::string kept = former + "/" + root;
    make_private_folders(fs::path(kept).parent_path().string());
    if (std::rename(folder.file(root).c_str(), kept.c_str()) != 0) throw file_error("move", folder.file(root));
  }
}

void refuse_linked_folders(const RunFolder& folder, const std::string& share, const std::string& path) {
  const std::string root = root_of(share, path);
  for (fs::path below = fs::path(path).parent_path(); below.string().size() > root.size();
       below = below.parent_path()) {
    if (!fs::is_symlink(fs::symlink_status(folder.file(below.string())))) continue;
    throw Error(Exit::data,
                folder.file(below.string()) + " is a link, and on the head it is a folder. Remove the link");
  }
}

std::vector<MirroredFile> list_shared(const RunFolder& folder, const std::string& share) {
  std::vector<MirroredFile> files;
  for (const std::string& root : roots_of(share)) {
    if (!folder_exists(folder.file(root))) continue;
    const auto accepts = [&](const std::string& path) { return is_shared(share, path); };
    for (MirroredFile& file : list_files_below(folder.dir(), root + "/", accepts)) {
      if (!file.link.empty() && !leads_to(file, accepts)) continue;
      if (!is_utf8(file.path))
        throw Error(Exit::data, "a file in " + folder.file(root) + " has a name that is no UTF-8");
      files.push_back(std::move(file));
    }
  }
  std::ranges::sort(files, {}, &MirroredFile::path);
  return files;
}

SharedRecord::SharedRecord(const RunFolder& folder) : folder_(folder) {
  const auto json = read_json_object(folder.file("share.json"));
  const Json files = json ? json->value("files", Json::array()) : Json::array();
  if (!files.is_array()) return;
  for (const Json& one : files) {
    const bool is_named = one.is_array() && one.size() >= 2 && one[0].is_string();
    if (is_named && one.size() == 2 && one[1].is_string()) add_link(one[0], one[1]);
    const bool is_file = is_named && one.size() == 4 && one[1].is_number_unsigned() && one[2].is_number_integer() &&
                         one[3].is_number_integer();
    if (is_file) files_[one[0]] = {one[1], one[2], one[3]};
  }
}

void SharedRecord::add(const std::string& path, int64_t time) {
  struct stat info{};
  if (::lstat(folder_.file(path).c_str(), &info) != 0) return;
  files_[path] = {static_cast<uint64_t>(info.st_size), time, time_written(info)};
}

void SharedRecord::write() const {
  Json files = Json::array();
  for (const auto& [path, file] : files_) {
    files.push_back(file.link.empty() ? Json{path, file.size, file.time, file.here} : Json{path, file.link});
  }
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
  const File& came = file->second;
  if (S_ISLNK(info.st_mode)) {
    std::error_code failed;
    return !came.link.empty() && fs::read_symlink(folder_.file(path), failed) == came.link && !failed;
  }
  return S_ISREG(info.st_mode) && came.link.empty() && static_cast<uint64_t>(info.st_size) == came.size &&
         time_written(info) == came.here;
}

std::vector<MirroredFile> SharedRecord::unchanged() const {
  std::vector<MirroredFile> files;
  for (const auto& [path, file] : files_) {
    if (is_unchanged(path)) files.push_back({path, file.size, file.time});
  }
  return files;
}

}  // namespace trainyard
