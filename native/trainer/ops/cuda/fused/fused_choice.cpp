#include "trainer/ops/cuda/fused/fused_choice.h"

#include <utility>

namespace trainyard::cuda {

FusedChecks::FusedChecks(std::string device, Say say) : device_(std::move(device)), say_(std::move(say)) {}

bool FusedChecks::passes(const FusedCandidate& candidate) {
  const auto known = passed_.find(candidate.kernel);
  if (known != passed_.end()) return known->second;
  const std::string wrong = candidate.check();
  if (!wrong.empty()) {
    say_("Trainyard's own kernel for " + candidate.kernel + " computed wrongly on " + device_ +
         " when it was checked, and is not used: " + wrong +
         ". cuDNN and the kernels behind it do its work: results are right, and steps take longer. Please report "
         "this line, with the output of \"trainer devices\" and of nvidia-smi");
  }
  return passed_[candidate.kernel] = wrong.empty();
}

std::optional<size_t> choose_fused(PlanChooser* chooser, FusedChecks& checks, const FusedWork& work) {
  const std::vector<FusedCandidate>& all = work.candidates;
  if (all.empty()) return std::nullopt;
  if (chooser == nullptr) return checks.passes(all.front()) ? std::optional<size_t>(0) : std::nullopt;

  const std::string before = chooser->chosen(work.question);
  if (before == kApart) return std::nullopt;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == before && checks.passes(all[i])) return i;
  }
  std::vector<std::string> names{kApart};
  std::vector<size_t> offered;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!checks.passes(all[i])) continue;
    names.push_back(all[i].name);
    offered.push_back(i);
  }
  if (offered.empty()) return std::nullopt;
  const size_t chosen = chooser->choose(
      work.question, names, [&](size_t i) { return i == 0 ? work.apart() : all[offered[i - 1]].milliseconds(); });
  return chosen == 0 ? std::nullopt : std::optional<size_t>(offered[chosen - 1]);
}

}  // namespace trainyard::cuda
