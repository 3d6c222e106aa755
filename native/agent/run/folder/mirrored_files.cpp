#include "agent/run/folder/mirrored_files.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <tuple>

#include "agent/run/folder/run_content.h"
#include "common/error.h"
#include "common/process.h"

namespace trainyard {

namespace {

constexpr size_t kMostFiles = 20'000;
constexpr int kDeepest = 32;           // folders in folders
constexpr double kQuietSeconds = 2;    // after its last write a file counts as done
constexpr size_t kLongestPath = 1024;  // bytes
constexpr std::string_view kCheckpoints = "checkpoints/";

constexpr std::array<std::string_view, 9> kLocalFiles{"join.json",       "stop.json",        "stop-job.json",
                                                      "supervisor.lock", "tensorboard.json", "tensorboard.lock",
                                                      "mirror.json",     "mirror.part",      "made-by-trainyard"};
constexpr std::array<std::string_view, 5> kLocalFolders{"nodes", "heartbeats", "processes", "mirror", "former"};

std::string_view first_part(std::string_view path) { return path.substr(0, path.find('/')); }

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// step-00000120 of checkpoints/step-00000120/model.safetensors; empty for another path.
std::string_view checkpoint_of(std::string_view path) {
  if (!path.starts_with(kCheckpoints)) return "";
  const std::string_view below = path.substr(kCheckpoints.size());
  const size_t end = below.find('/');
  return end != std::string_view::npos && below.starts_with("step-") ? below.substr(0, end) : "";
}

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

/// What only ever gets longer: our lines and logs, and TensorBoard's event files.
bool grows(std::string_view path) {
  const std::string_view name = last_part(path);
  return name.ends_with(".jsonl") || name.ends_with(".log") || name.ends_with(".times") ||
         name.find("tfevents") != std::string_view::npos;
}

class Listing {
 public:
  explicit Listing(const std::string& dir) : dir_(dir) {}

  std::vector<MirroredFile> run() {
    look("", 0);
    // Checkpoints from the newest on. What says that a thing is whole comes behind the thing.
    const auto key = [](const MirroredFile& file) {
      const std::string_view step = checkpoint_of(file.path);
      const int group = file.path == "state.json" ? 2 : step.empty() ? 0 : 1;
      return std::tuple(group, step, last_part(file.path) != "manifest.json", std::string_view(file.path));
    };
    std::sort(files_.begin(), files_.end(), [&](const MirroredFile& one, const MirroredFile& other) {
      const auto [group, step, early, path] = key(one);
      const auto [other_group, other_step, other_early, other_path] = key(other);
      if (group != other_group) return group < other_group;
      if (step != other_step) return step > other_step;
      if (early != other_early) return early;
      return path < other_path;
    });
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
      if (errno == ENOENT || errno == ENOTDIR) return;  // it was removed meanwhile
      throw file_error("list", dir_ + "/" + below);
    }
    while (const dirent* entry = ::readdir(folder.get())) {
      const std::string path = below + entry->d_name;
      struct stat info{};
      if (!is_mirrored(path) || ::lstat((dir_ + "/" + path).c_str(), &info) != 0) continue;
      if (S_ISDIR(info.st_mode)) look(path + "/", depth + 1);
      if (S_ISREG(info.st_mode)) add(path, info);
    }
  }

  void add(const std::string& path, const struct stat& info) {
    if (files_.size() == kMostFiles) {
      throw Error(Exit::data,
                  "the run folder holds more than 20,000 files, which are too many to mirror. Let the "
                  "program write them elsewhere");
    }
    const double written = static_cast<double>(info.st_mtim.tv_sec) + static_cast<double>(info.st_mtim.tv_nsec) * 1e-9;
    MirroredFile file{path, static_cast<uint64_t>(info.st_size),
                      info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec, info.st_ino, grows(path)};
    // Ours appear whole, by a rename. A time ahead of the clock says nothing.
    const double age = now_seconds() - written;
    file.is_done = file.grows || is_run_file(path) || age < 0 || age >= kQuietSeconds;
    files_.push_back(std::move(file));
  }

  std::string dir_;
  std::vector<MirroredFile> files_;
};

}  // namespace

bool is_mirrored(std::string_view path) {
  if (!has_safe_parts(path) || is_temporary(path)) return false;
  if (path.starts_with(kCheckpoints) && path.substr(kCheckpoints.size()).starts_with(".")) return false;
  return std::ranges::find(kLocalFiles, path) == kLocalFiles.end() &&
         std::ranges::find(kLocalFolders, first_part(path)) == kLocalFolders.end();
}

std::vector<MirroredFile> list_mirrored(const std::string& dir) { return Listing(dir).run(); }

std::string newest_checkpoint(const std::vector<MirroredFile>& files) {
  for (const MirroredFile& file : files) {
    if (last_part(file.path) == "manifest.json" && !checkpoint_of(file.path).empty()) {
      return std::string(checkpoint_of(file.path));
    }
  }
  return "";
}

}  // namespace trainyard
