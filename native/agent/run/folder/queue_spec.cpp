#include "agent/run/folder/queue_spec.h"

#include "agent/run/folder/run_folder.h"
#include "agent/run/gpu_pins.h"

namespace trainyard {

namespace {

constexpr int64_t kMostSlots = 4096;
constexpr int64_t kLastPlace = int64_t{1} << 53;
constexpr size_t kMostBy = 200;  // bytes

}  // namespace

QueueSpec parse_queue(const Fields& queue) {
  QueueSpec spec;
  spec.by = queue.optional_string("by").value_or("");
  if (spec.by.size() > kMostBy) throw FieldError("spec.queue.by must be 200 bytes or fewer");
  if (const Json* nodes = queue.find("nodes")) {
    if (!nodes->is_array() || nodes->empty()) throw FieldError("spec.queue.nodes must list nodes");
    for (const Json& one : *nodes) {
      const std::string where = "spec.queue.nodes[" + std::to_string(spec.nodes.size()) + "]";
      spec.nodes.push_back({Fields(one, where).string("host"), gpus_of(one, "gpus", 1, where)});
    }
  }
  if (const Json* given = queue.find("slots")) {
    const Fields slots(*given, "spec.queue.slots");
    spec.group = slots.string("group");
    if (!is_run_id(spec.group)) throw FieldError("spec.queue.slots.group must be a plain name");
    spec.slots = static_cast<int>(slots.integer("count", 1, kMostSlots));
    spec.place = slots.integer("place", 1, kLastPlace);
  }
  if (spec.nodes.empty() && spec.group.empty()) throw FieldError("spec.queue says nothing to wait for");
  return spec;
}

}  // namespace trainyard
