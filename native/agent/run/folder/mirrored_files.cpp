#include "agent/run/folder/mirrored_files.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <tuple>

#include "agent/messages/json.h"
#include "agent/run/folder/code_files.h"
#include "agent/run/folder/run_content.h"
#include "common/error.h"
#include "common/process.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostFiles = 20'000;
constexpr int kDeepest = 32;           // folders in folders
constexpr double kQuietSeconds = 2;    // after its last write a file counts as done
constexpr size_t kLongestPath = 1024;  // bytes
constexpr std::string_view kCheckpoints = "checkpoints/";

constexpr std::array<std::string_view, 12> kLocalFiles{
    "join.json",   "stop.json",   "stop-job.json", "supervisor.lock", "tensorboard.json", "tensorboard.lock",
    "mirror.json", "mirror.part", "share.json",    "code.json",       "code.diff",        "made-by-trainyard"};
constexpr std::array<std::string_view, 5> kLocalFolders{"nodes", "heartbeats", "processes", "mirror", "former"};
constexpr std::string_view kCode = "code/";

std::string_view first_part(std::string_view path) { return path.substr(0, path.find('/')); }

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// step-00000120 of checkpoints/step-00000120/model.safetensors; empty for another path.
std::string_view checkpoint_of(std::string_view path) {
  if (!path.starts_with(kCheckpoints)) return "";
  const std::string_view below = path.substr(kCheckpoints.size());
  const size_t end = below.find('/');
  return end != std::string_view::npos && below.starts_with("step-") ? below.substr(0, end) : "";
}

/// What only ever gets longer: our own lines and logs, and TensorBoard's event files. A program may
/// write its own anew.
bool grows(const std::string& path) {
  const std::string_view name = last_part(path);
  if (name.find("tfevents") != std::string_view::npos) return true;
  return is_run_file(path) && (name.ends_with(".jsonl") || name.ends_with(".log") || name.ends_with(".times"));
}

using Accepts = std::function<bool(const std::string& path)>;

/// By the order in which they are copied.
void sort_for_mirror(std::vector<MirroredFile>& files) {
  // What says that a thing is whole comes behind the thing.
  const auto key = [](const MirroredFile& file) {
    const std::string_view step = checkpoint_of(file.path);
    return std::tuple(!step.empty(), step, last_part(file.path) != "manifest.json", std::string_view(file.path));
  };
  std::sort(files.begin(), files.end(), [&](const MirroredFile& one, const MirroredFile& other) {
    const auto [late, step, early, path] = key(one);
    const auto [other_late, other_step, other_early, other_path] = key(other);
    if (late != other_late) return other_late;
    if (step != other_step) return step > other_step;
    if (early != other_early) return early;
    return path < other_path;
  });
}

class Listing {
 public:
  Listing(const std::string& dir, const Accepts& accepts) : dir_(dir), accepts_(accepts) {}

  std::vector<MirroredFile> below(const std::string& folder) {
    look(folder, 0);
    return std::move(files_);
  }

 private:
  void look(const std::string& below, int depth) {
    if (depth > kDeepest) return;
    struct Close {
      void operator()(DIR* folder) const { ::closedir(folder); }
    };
    const std::unique_ptr<DIR, Close> folder(::opendir((dir_ + "/" + below).c_str()));
    if (!folder) {
      if (depth > 0 && (errno == ENOENT || errno == ENOTDIR)) return;  // it was removed meanwhile
      throw file_error("list", dir_ + "/" + below);
    }
    // What cannot be looked at is not gone: whoever took it for gone would remove the copy.
    while (const dirent* entry = next(folder.get(), below)) {
      const std::string path = below + entry->d_name;
      struct stat info{};
      if (!accepts_(path)) continue;
      if (::lstat((dir_ + "/" + path).c_str(), &info) != 0) {
        if (errno == ENOENT) continue;
        throw file_error("look at", dir_ + "/" + path);
      }
      if (S_ISDIR(info.st_mode)) look(path + "/", depth + 1);
      if (S_ISREG(info.st_mode)) add(path, info);
      if (S_ISLNK(info.st_mode)) add_link(path, info);
    }
  }

  const dirent* next(DIR* folder, const std::string& below) const {
    errno = 0;
    const dirent* entry = ::readdir(folder);
    if (entry == nullptr && errno != 0) throw file_error("list", dir_ + "/" + below);
    return entry;
  }

  void add_link(const std::string& path, const struct stat& info) {
    std::error_code failed;
    MirroredFile link{path, 0, time_written(info), info.st_ino};
    link.link = fs::read_symlink(dir_ + "/" + path, failed).string();
    link.size = link.link.size();
    if (!failed && !link.link.empty()) push(std::move(link));
  }

  void push(MirroredFile file) {
    if (files_.size() == kMostFiles) {
      throw Error(Exit::data, dir_ +
                                  " holds more than 20,000 files, which are too many to copy. Let the "
                                  "program write them elsewhere");
    }
    files_.push_back(std::move(file));
  }

  void add(const std::string& path, const struct stat& info) {
    MirroredFile file{path, static_cast<uint64_t>(info.st_size), time_written(info), info.st_ino, grows(path)};
    file.runs = (info.st_mode & S_IXUSR) != 0;
    // Ours appear whole, by a rename. A time ahead of the clock says nothing.
    const double age = now_seconds() - static_cast<double>(file.time) * 1e-9;
    file.is_done = file.grows || is_run_file(path) || age < 0 || age >= kQuietSeconds;
    push(std::move(file));
  }

  std::string dir_;
  const Accepts& accepts_;
  std::vector<MirroredFile> files_;
};

}  // namespace

bool has_safe_parts(std::string_view path) {
  if (path.empty() || path.size() > kLongestPath || path.find('\0') != std::string_view::npos) return false;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

bool is_mirrored(std::string_view path) {
  if (!has_safe_parts(path) || is_temporary(path)) return false;
  if (path.starts_with(kCheckpoints) && path.substr(kCheckpoints.size()).starts_with('.')) return false;
  return std::ranges::find(kLocalFiles, path) == kLocalFiles.end() && !is_local_folder(first_part(path));
}

bool is_local_folder(std::string_view name) { return std::ranges::find(kLocalFolders, name) != kLocalFolders.end(); }

bool leads_to(const MirroredFile& link, const Accepts& accepts) {
  std::string target = link.link;
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  // A way back after another part may lead through a link: `..` stands at the front alone.
  if (fs::path(target).lexically_normal() != target) return false;
  return accepts((fs::path(link.path).parent_path() / target).lexically_normal().string());
}

int64_t time_written(const struct stat& info) { return info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec; }

void remove_empty_parents(const std::string& dir, const std::string& path) {
  for (fs::path folder = fs::path(path).parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (::rmdir((dir + "/" + folder.string()).c_str()) != 0) break;
  }
}

std::vector<MirroredFile> list_files_below(const std::string& dir, const std::string& below, const Accepts& accepts) {
  return Listing(dir, accepts).below(below);
}

std::vector<MirroredFile> list_mirrored(const std::string& dir) {
  const CodeFiles code(dir + "/code.json");
  std::vector<MirroredFile> files = list_files_below(dir, "", [&code](const std::string& path) {
    const bool is_code = path.starts_with(kCode) && code.contains(path.substr(kCode.size()));
    return is_mirrored(path) && !is_code;
  });
  std::erase_if(files, [](const MirroredFile& file) { return !file.link.empty() && !leads_to(file, is_mirrored); });
  sort_for_mirror(files);
  return files;
}

std::string head_of_run(const RunFolder& folder) {
  const auto run = read_json_object(folder.run());
  const Json nodes = run ? run->value("nodes", Json::array()) : Json::array();
  if (!nodes.is_array() || nodes.empty() || !nodes[0].is_object()) return "";
  const auto host = nodes[0].find("host");
  return host != nodes[0].end() && host->is_string() ? host->get<std::string>() : "";
}

std::string mirrored_checkpoint(std::string_view path) { return std::string(checkpoint_of(path)); }

bool is_manifest(std::string_view path) { return last_part(path) == "manifest.json" && !checkpoint_of(path).empty(); }

}  // namespace trainyard
