#include "agent/supervise/start_queue.h"

#include <algorithm>

#include "agent/messages/hmac.h"
#include "agent/messages/joined.h"
#include "agent/system/clock.h"

namespace trainyard {

namespace {

constexpr double kLookSeconds = 2;
constexpr size_t kTicketBytes = 16;

std::vector<GpuName> slot_names(int count) {
  std::vector<GpuName> names;
  for (int slot = 0; slot < count; ++slot) names.push_back({slot, "slot-" + std::to_string(slot)});
  return names;
}

std::vector<int> indices_of(const std::vector<GpuName>& names) {
  std::vector<int> indices;
  for (const GpuName& name : names) indices.push_back(name.index);
  return indices;
}

std::vector<int> gpus_of_head(const RunSpec& spec) {
  if (spec.head_gpus().empty()) return {};
  const std::vector<NodeQueue>& nodes = spec.queue->nodes;
  if (spec.nodes.size() < 2) return nodes.front().gpus;
  return std::ranges::find(nodes, spec.nodes.front().host, &NodeQueue::host)->gpus;  // parse_run_spec saw it
}

}  // namespace

StartQueue::StartQueue(const RunSpec& spec, GpuHolder holder, Cluster* cluster)
    : queue_(*spec.queue),
      head_(spec.nodes.empty() ? "" : spec.nodes.front().host),
      wanted_(spec.head_gpus().size()),
      of_(gpus_of_head(spec)),
      holder_(std::move(holder)),
      cluster_(cluster) {
  if (queue_.group.empty()) return;
  const GpuTicket ticket{random_hex(kTicketBytes), indices_of(slot_names(queue_.slots)), 1, queue_.by};
  for_slot_ = std::make_unique<GpuTurn>(ticket, queue_.place, slots_folder(queue_.group));
}

bool StartQueue::look() {
  if (for_slot_ && !look_at_slots()) return false;
  if (queue_.nodes.empty()) return cluster_ == nullptr || all_are_here();
  if (cluster_ != nullptr && !all_have_one_number()) return false;
  if (cluster_ == nullptr && !for_gpus_) enter();
  if (for_gpus_ && for_gpus_->taken().empty()) {
    if (std::optional<GpuLocks> locks = for_gpus_->look()) locks_.add(std::move(*locks));
  }
  describe();
  if (for_gpus_ && for_gpus_->taken().empty()) return false;
  return cluster_ == nullptr || (cluster_->queue()->taken() && cluster_->missing().empty());
}

bool StartQueue::look_at_slots() {
  if (monotonic_seconds() < next_look_) return false;
  next_look_ = monotonic_seconds() + kLookSeconds;
  std::optional<GpuLocks> slot = for_slot_->look(slot_names(queue_.slots), holder_);
  text_ = "waiting for other runs of " + queue_.group + " to end: " + for_slot_->position() + "; " +
          std::to_string(queue_.slots) + " at a time";
  if (!slot) return false;
  slot_ = std::move(*slot);
  for_slot_.reset();
  return true;
}

/// So all nodes have the same order of starts (cluster/cluster_queue.h).
bool StartQueue::all_have_one_number() {
  ClusterQueue* others = cluster_->queue();
  if (others == nullptr || others->is_broken()) {
    if (others != nullptr) leave();
    if (all_are_here()) enter();
    return false;
  }
  if (!others->is_raised()) {
    const std::optional<int64_t> highest = others->highest();
    if (!highest) return false;
    const int64_t number = std::max(*highest, for_gpus_ ? for_gpus_->number() : 0);
    if (for_gpus_ && for_gpus_->number() != number) for_gpus_->come_at(number);
    others->raise(number);
    return false;
  }
  others->take();
  return true;
}

bool StartQueue::all_are_here() {
  const std::vector<std::string> missing = cluster_->missing();
  if (missing.empty()) return true;
  text_ = "waiting for " + nodes_text(missing);
  return false;
}

void StartQueue::enter() {
  const GpuTicket ticket{random_hex(kTicketBytes), of_, static_cast<int>(wanted_), queue_.by};
  if (wanted_ > 0) for_gpus_ = std::make_unique<GpuWait>(ticket, holder_, cluster_ == nullptr ? "" : head_);
  if (cluster_ != nullptr) cluster_->enter_queue(ticket.id);
}

void StartQueue::leave() {
  for_gpus_.reset();
  locks_.give_back();
  if (cluster_ != nullptr) cluster_->leave_queue();
}

void StartQueue::describe() {
  std::vector<std::string> texts = cluster_ == nullptr ? std::vector<std::string>() : cluster_->queue()->texts();
  const bool waits = for_gpus_ && for_gpus_->taken().empty() && !for_gpus_->text().empty();
  if (waits) texts.insert(texts.begin(), for_gpus_->text());
  if (!texts.empty()) text_ = joined(texts, "; and ");
}

GpuLocks StartQueue::locks() {
  GpuLocks all = std::move(slot_);
  all.add(std::move(locks_));
  return all;
}

std::map<std::string, std::vector<int>> StartQueue::gpus() const {
  std::map<std::string, std::vector<int>> gpus;
  if (cluster_ != nullptr && cluster_->queue() != nullptr) gpus = cluster_->queue()->taken().value();
  if (for_gpus_) gpus[head_] = for_gpus_->taken();
  return gpus;
}

void StartQueue::begin() {
  for_gpus_.reset();
  if (cluster_ != nullptr && cluster_->queue() != nullptr) cluster_->queue()->begin();
}

}  // namespace trainyard
