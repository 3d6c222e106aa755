#include <algorithm>
#include <filesystem>

#include "common/checkpoint/checkpoint_folders.h"
#include "common/checkpoint/checkpoint_list.h"
#include "common/error.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/file_system.h"
#include "trainer/checkpoint/replaced.h"

namespace trainyard {

namespace {

std::string in(std::string folder, const std::string& name) { return folder.append("/").append(name); }

}  // namespace

void discard(FileSystem& files, const std::string& folder, const std::string& name) {
  const std::string path = in(folder, name);
  const std::string doomed = in(folder, std::string(temporary_prefix).append("removed-").append(name));
  remove_tree(files, doomed);
  if (files.rename(path, doomed) != 0) throw file_error("remove", path);
  remove_tree(files, doomed);
}

void settle_replaced(FileSystem& files, const std::string& run_dir) {
  const std::string folder = checkpoints_folder(run_dir);
  for (const std::string& name : checkpoint_entries(run_dir)) {
    if (!name.starts_with(replaced_prefix)) continue;
    const std::string plain = name.substr(std::string_view(replaced_prefix).size());
    const std::optional<int64_t> step = step_of(plain);
    if (!step) continue;
    const std::string path = in(folder, plain);
    std::error_code unknown;
    if (std::filesystem::exists(path, unknown)) {
      if (inspect_checkpoint(path, *step, true).valid) {
        discard(files, folder, name);
        continue;
      }
      discard(files, folder, plain);
    }
    if (files.rename(in(folder, name), path) != 0) throw file_error("restore", path);
    if (files.sync_folder(folder) != 0) throw file_error("sync", folder);
  }
}

void prune_checkpoints(const std::string& run_dir, int keep, std::optional<int64_t> best_step, FileSystem& files) {
  settle_replaced(files, run_dir);
  const std::string folder = checkpoints_folder(run_dir);
  for (const std::string& name : checkpoint_entries(run_dir))
    if (name.starts_with(temporary_prefix)) remove_tree(files, in(folder, name));

  std::vector<CheckpointInfo> found = list_checkpoints(run_dir, false);
  std::reverse(found.begin(), found.end());  // newest first
  // One that is known to be whole, byte for byte, before any other goes.
  const auto newest = std::find_if(found.begin(), found.end(), [](const CheckpointInfo& info) {
    return info.valid && inspect_checkpoint(info.path, info.step, true).valid;
  });
  int kept = 0;
  for (auto at = newest; at != found.end(); ++at) {
    const bool stays = at->valid && (kept < std::max(keep, 1) || at->step == best_step);
    if (at->valid) ++kept;
    if (!stays) discard(files, folder, step_name(at->step));
  }
}

void prune_checkpoints(const std::string& run_dir, int keep, std::optional<int64_t> best_step) {
  FileSystem files;
  prune_checkpoints(run_dir, keep, best_step, files);
}

}  // namespace trainyard
