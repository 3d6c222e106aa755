#include <algorithm>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/folders.h"
#include "trainer/checkpoint/inspect.h"

namespace trainyard {

std::vector<CheckpointInfo> list_checkpoints(const std::string& run_dir, bool verify) {
  const std::vector<std::string> names = checkpoint_entries(run_dir);
  std::vector<CheckpointInfo> found;
  for (const std::string& name : names) {
    const bool replaced = name.starts_with(replaced_prefix);
    const std::string plain = replaced ? name.substr(std::string_view(replaced_prefix).size()) : name;
    const std::optional<int64_t> step = step_of(plain);
    if (!step) continue;
    if (replaced && std::binary_search(names.begin(), names.end(), plain)) continue;
    found.push_back(inspect_checkpoint(checkpoints_folder(run_dir) + "/" + name, *step, verify));
  }
  std::sort(found.begin(), found.end(),
            [](const CheckpointInfo& a, const CheckpointInfo& b) { return a.step < b.step; });
  return found;
}

std::optional<CheckpointInfo> newest_valid_checkpoint(const std::string& run_dir) {
  std::vector<CheckpointInfo> found = list_checkpoints(run_dir, false);
  for (auto at = found.rbegin(); at != found.rend(); ++at) {
    if (!at->valid) continue;
    CheckpointInfo checked = inspect_checkpoint(at->path, at->step, true);
    if (checked.valid) return checked;
  }
  return std::nullopt;
}

}  // namespace trainyard
