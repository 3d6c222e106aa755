// The node that keeps a copy of the run folder: how it is asked to, and what is said of it.
#include "agent/cluster/cluster.h"

namespace trainyard {

bool Cluster::take_mirror(std::unique_ptr<Wire>& wire) {
  if (!mirror_ || wire->host() != mirror_greeting(spec_.mirror)) return false;
  mirror_->take(std::move(wire));
  return true;
}

/// Where it sees the head's folder there is nothing to copy.
void Cluster::ask_mirror(ClusterNode& node) {
  if (mirror_ && node.spec.host == spec_.mirror && !node.shared) node.wire->send({{"kind", "mirror"}});
}

void Cluster::look_at_mirror() {
  if (!mirror_ || over_) return;
  const MirrorSource::Status now = mirror_->status();
  if (now.checkpoint != mirrored_.checkpoint && !now.checkpoint.empty()) {
    journal_.event("mirrored", {{"host", spec_.mirror}, {"checkpoint", now.checkpoint}});
  }
  if (mirrored_.why.empty() && !now.why.empty()) {
    journal_.event("mirror_failed", {{"host", spec_.mirror}, {"reason", now.why}});
  }
  changed_ = changed_ || now.checkpoint != mirrored_.checkpoint || now.why != mirrored_.why;
  mirrored_ = now;
}

Json Cluster::mirror_json() const {
  if (!mirror_) return nullptr;
  const ClusterNode* node = find(spec_.mirror);
  if (node != nullptr && node->shared) return {{"host", spec_.mirror}, {"shared", true}};
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {{"host", spec_.mirror},
          {"checkpoint", text_or_null(mirrored_.checkpoint)},
          {"time", mirrored_.time > 0 ? Json(mirrored_.time) : Json(nullptr)},
          {"why", text_or_null(mirrored_.why)}};
}

}  // namespace trainyard
