#include "agent/run/folder/run_content.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "agent/run/folder/code_files.h"
#include "agent/run/folder/shared_files.h"
#include "agent/system/paths.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMark = "made-by-trainyard";
constexpr size_t kMostNamed = 20;

/// `#` stands for digits, `*` for anything within one name. Each name may also end in .tmp-PID,
/// which a write that was cut short leaves behind.
constexpr std::array<std::string_view, 62> kFiles{"run.json",
                                                  "about.json",
                                                  "state.json",
                                                  "stop.json",
                                                  "supervisor.lock",
                                                  "supervisor.log",
                                                  "events.jsonl",
                                                  "metrics.jsonl",
                                                  "figures.jsonl",
                                                  "figures.state.json",
                                                  "join.json",
                                                  "mirror.json",
                                                  "mirror.part",
                                                  "share.json",
                                                  "slurm.sh",
                                                  "slurm.log",
                                                  "stop-job.json",
                                                  "stage.json",
                                                  "code.json",
                                                  "code.diff",
                                                  "tensorboard.json",
                                                  "tensorboard.lock",
                                                  kMark,
                                                  "gpus/*.jsonl",
                                                  "logs/rank-#.log",
                                                  "logs/rank-#.times",
                                                  "logs/eval.log",
                                                  "logs/eval.times",
                                                  "logs/mpiexec.log",
                                                  "logs/tensorboard.log",
                                                  "logs/notify.log",
                                                  "heartbeats/rank-#",
                                                  "heartbeats/eval",
                                                  "exits/gen-#-rank-#.json",
                                                  "processes/gen-#-rank-#.json",
                                                  "processes/gen-#-command.json",
                                                  "processes/gen-#-ended",
                                                  "processes/gen-#-given-up",
                                                  "nodes/probe.json",
                                                  "nodes/figures.lock",
                                                  "nodes/*/command.json",
                                                  "nodes/*/join.json",
                                                  "nodes/*/join.state.json",
                                                  "nodes/*/join.lock",
                                                  "nodes/*/not-joined.json",
                                                  "nodes/*/join.log",
                                                  "nodes/*/proxy.log",
                                                  "nodes/*/figures.jsonl",
                                                  "nodes/*/figures.state.json",
                                                  "train/events.out.tfevents.*",
                                                  "eval/events.out.tfevents.*",
                                                  "checkpoints/step-#/model.safetensors",
                                                  "checkpoints/step-#/optimizer.safetensors",
                                                  "checkpoints/step-#/state.json",
                                                  "checkpoints/step-#/manifest.json",
                                                  "checkpoints/.tmp-step-#/*",
                                                  "checkpoints/.tmp-removed-step-#/*",
                                                  "checkpoints/.tmp-removed-.old-step-#/*",
                                                  "checkpoints/.old-step-#/model.safetensors",
                                                  "checkpoints/.old-step-#/optimizer.safetensors",
                                                  "checkpoints/.old-step-#/state.json",
                                                  "checkpoints/.old-step-#/manifest.json"};

bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  const bool digits = pattern.front() == '#';
  if (!digits && pattern.front() != '*') {
    return !text.empty() && text.front() == pattern.front() && matches(pattern.substr(1), text.substr(1));
  }
  for (size_t length = 1; length <= text.size(); ++length) {
    const char last = text[length - 1];
    if (last == '/' || (digits && !is_digit(last))) return false;
    if (matches(pattern.substr(1), text.substr(length))) return true;
  }
  return false;
}

std::string_view without_temporary_end(std::string_view path) {
  const size_t at = path.rfind(".tmp-");
  if (at == std::string_view::npos || at + 5 == path.size()) return path;
  return std::all_of(path.begin() + static_cast<std::ptrdiff_t>(at) + 5, path.end(), is_digit) ? path.substr(0, at)
                                                                                               : path;
}

/// Whether a folder of that name holds, or may hold, files of a run.
bool is_run_subfolder(std::string_view path) {
  const auto depth = std::count(path.begin(), path.end(), '/');
  return std::any_of(kFiles.begin(), kFiles.end(), [&](std::string_view file) {
    size_t end = 0;
    for (auto left = depth + 1; left > 0 && end != std::string_view::npos; --left) {
      end = file.find('/', end == 0 ? 0 : end + 1);
    }
    return end != std::string_view::npos && matches(file.substr(0, end), path);
  });
}

class Removal {
 public:
  Removal(const RunFolder& folder, bool looks, Others others)
      : folder_(folder),
        code_(folder.code_list()),
        shared_(folder),
        looks_(looks),
        made_(file_exists(folder.file(kMark))),
        others_go_(made_ && others == Others::go) {}

  Remains look() {
    clear("");
    finish_remains();
    remains_.folder = !made_;
    return remains_;
  }

  Remains run() {
    clear("");
    // Until here the folder still reads as a run, so that what failed can be tried again.
    for (const char* last : {"supervisor.lock", "code.json", "run.json", kMark}) remove(last);
    if (made_ && remains_.count == 0) fs::remove(folder_.dir(), failed_);
    finish_remains();
    return remains_;
  }

 private:
  void finish_remains() {
    std::sort(remains_.names.begin(), remains_.names.end());
    if (remains_.names.size() > kMostNamed) remains_.names.resize(kMostNamed);
    remains_.folder = folder_exists(folder_.dir());
  }

  static bool is_last(const std::string& path) {
    return path == "supervisor.lock" || path == "code.json" || path == "run.json" || path == kMark;
  }

  /// Copies of run folders: of the head's, and of one that the run had here before
  /// (mirrored_files.h).
  static bool is_copy(const std::string& path) { return path == "mirror" || path == "former"; }
  static bool is_below_code(const std::string& path) { return path.starts_with("code/"); }
  bool is_folder_of_run(const std::string& path) const {
    return path == "code" || is_below_code(path) || is_run_subfolder(path) || shared_.has_below(path);
  }
  bool is_file_of_run(const std::string& path) const {
    return shared_.is_unchanged(path) || (is_below_code(path) ? code_.contains(path.substr(5)) : is_run_file(path));
  }

  /// Removes what is the run's below `below` ("" or a name with its slash).
  void clear(const std::string& below) {
    std::vector<fs::directory_entry> entries;
    fs::directory_iterator entry(folder_.file(below), failed_);
    for (const fs::directory_iterator end; !failed_ && entry != end; entry.increment(failed_))
      entries.push_back(*entry);
    if (failed_) fail("list", folder_.file(below));
    for (const fs::directory_entry& one : entries) {
      const std::string path = below + one.path().filename().string();
      const auto kind = one.symlink_status(failed_).type();
      if (failed_) fail("look at", one.path().string());
      const bool is_folder = kind == fs::file_type::directory;
      const bool goes_whole = others_go_ || (is_folder && is_copy(path));
      if (is_folder && !is_copy(path) && is_folder_of_run(path)) {
        const size_t before = remains_.count;
        clear(path + "/");
        if (remains_.count == before) remove(path);
      } else if (!is_folder && is_file_of_run(path)) {
        if (!is_last(path)) remove(path);
      } else if (goes_whole) {
        remove_all(one.path());
      } else {
        ++remains_.count;
        remains_.names.push_back(path + (is_folder ? "/" : ""));
      }
    }
  }

  void remove_all(const fs::path& path) {
    if (looks_) return;
    fs::remove_all(path, failed_);
    if (failed_) fail("remove", path.string());
  }

  void remove(const std::string& path) {
    if (looks_) return;
    fs::remove(folder_.file(path), failed_);
    if (failed_) fail("remove", folder_.file(path));
  }

  [[noreturn]] void fail(const char* act, const std::string& path) const {
    throw Error(Exit::data, std::string("cannot ") + act + " " + path + ": " + failed_.message() +
                                ". Check its permissions, then delete the run again");
  }

  RunFolder folder_;
  CodeFiles code_;
  SharedRecord shared_;
  const bool looks_;      ///< nothing is removed
  const bool made_;       ///< for the run, by us
  const bool others_go_;  ///< what is not the run's
  Remains remains_;
  std::error_code failed_;
};

}  // namespace

void mark_as_made(const std::string& dir) {
  replace_file(dir + "/" + kMark, "This folder was made for a run, and goes with it.\n");
}

void make_marked_folder(const std::string& dir) {
  const bool is_new = !folder_exists(dir);
  make_private_folders(dir);
  if (is_new) mark_as_made(dir);
}

bool is_temporary(std::string_view path) { return without_temporary_end(path) != path; }

bool is_run_file(const std::string& path) {
  const std::string_view name = without_temporary_end(path);
  return std::any_of(kFiles.begin(), kFiles.end(), [&](std::string_view file) { return matches(file, name); });
}

Remains remove_run_content(const RunFolder& folder, Others others) { return Removal(folder, false, others).run(); }

Remains look_at_run_content(const RunFolder& folder) { return Removal(folder, true, Others::stay).look(); }

}  // namespace trainyard
