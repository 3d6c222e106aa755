#include "agent/run/folder/checkpoints.h"

#include "common/checkpoint/checkpoint_list.h"

namespace trainyard {

CheckpointListing::CheckpointListing(const RunFolder& folder, bool verify) : dir_(folder.dir()) {
  for (const auto& [step, path] : find_checkpoints(dir_)) checks_.emplace_back(path, step, verify);
}

bool CheckpointListing::verify_some() {
  if (next_ < checks_.size() && checks_[next_].advance()) ++next_;
  return next_ == checks_.size();
}

Json CheckpointListing::to_json() const {
  Json list = Json::array();
  for (const CheckpointCheck& check : checks_) {
    const CheckpointInfo& one = check.info();
    list.push_back({{"step", one.step},
                    {"path", one.path.substr(dir_.size() + 1)},
                    {"bytes", one.bytes},
                    {"time", one.time},
                    {"valid", one.valid},
                    {"reason", one.valid ? Json(nullptr) : Json(one.reason)}});
  }
  return {{"checkpoints", list}};
}

}  // namespace trainyard
