#include "common/checkpoint/checkpoint_list.h"

#include <algorithm>

#include "common/checkpoint/checkpoint_folders.h"

namespace trainyard {

std::vector<std::pair<int64_t, std::string>> find_checkpoints(const std::string& run_dir) {
  const std::vector<std::string> names = checkpoint_entries(run_dir);
  std::vector<std::pair<int64_t, std::string>> found;
  for (const std::string& name : names) {
    const bool replaced = name.starts_with(replaced_prefix);
    const std::string plain = replaced ? name.substr(std::string_view(replaced_prefix).size()) : name;
    const std::optional<int64_t> step = step_of(plain);
    if (!step) continue;
    if (replaced && std::binary_search(names.begin(), names.end(), plain)) continue;
    found.emplace_back(*step, checkpoints_folder(run_dir) + "/" + name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<CheckpointInfo> list_checkpoints(const std::string& run_dir, bool verify) {
  std::vector<CheckpointInfo> found;
  for (const auto& [step, folder] : find_checkpoints(run_dir))
    found.push_back(inspect_checkpoint(folder, step, verify));
  return found;
}

NewestCheckpoint find_newest_checkpoint(const std::string& run_dir, std::optional<int64_t> above) {
  const auto found = find_checkpoints(run_dir);
  NewestCheckpoint newest;
  for (auto at = found.rbegin(); at != found.rend() && !newest.valid; ++at) {
    if (above && at->first <= *above) break;
    CheckpointInfo info = inspect_checkpoint(at->second, at->first, true);
    if (info.valid) {
      newest.valid = std::move(info);
    } else {
      newest.passed_over.push_back(std::move(info));
    }
  }
  return newest;
}

std::optional<CheckpointInfo> newest_valid_checkpoint(const std::string& run_dir) {
  return find_newest_checkpoint(run_dir).valid;
}

}  // namespace trainyard
