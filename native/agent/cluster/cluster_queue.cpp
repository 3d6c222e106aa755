#include "agent/cluster/cluster_queue.h"

#include <algorithm>

#include "agent/cluster/cluster.h"

namespace trainyard {

ClusterQueue::ClusterQueue(const QueueSpec& queue, const std::vector<ClusterNode>& nodes, const std::string& ticket)
    : ticket_(ticket) {
  for (size_t at = 1; at < nodes.size(); ++at) {
    const NodeSpec& node = nodes[at].spec;
    const auto found = std::ranges::find(queue.nodes, node.host, &NodeQueue::host);
    if (node.gpus.empty() || found == queue.nodes.end()) continue;
    places_[node.host].ticket = {
        {"kind", "queue"}, {"ticket", ticket}, {"gpus", found->gpus}, {"count", node.gpus.size()}, {"by", queue.by}};
  }
}

std::optional<int64_t> ClusterQueue::highest() const {
  int64_t highest = 0;
  for (const auto& [host, place] : places_) {
    if (!place.number) return std::nullopt;
    highest = std::max(highest, *place.number);
  }
  return highest;
}

void ClusterQueue::raise(int64_t number) {
  number_ = number;
  stage_ = Stage::raise;
}

bool ClusterQueue::is_raised() const {
  return stage_ >= Stage::raise &&
         std::ranges::all_of(places_, [this](const auto& one) { return one.second.number == number_; });
}

void ClusterQueue::take() { stage_ = std::max(stage_, Stage::take); }

std::optional<std::map<std::string, std::vector<int>>> ClusterQueue::taken() const {
  std::map<std::string, std::vector<int>> taken;
  for (const auto& [host, place] : places_) {
    if (place.taken.empty()) return std::nullopt;
    taken[host] = place.taken;
  }
  return taken;
}

void ClusterQueue::begin() { stage_ = Stage::begun; }

std::vector<std::string> ClusterQueue::texts() const {
  std::vector<std::string> texts;
  for (const auto& [host, place] : places_) {
    if (place.taken.empty() && !place.text.empty()) texts.push_back(place.text);
  }
  return texts;
}

void ClusterQueue::step(std::vector<ClusterNode>& nodes) {
  for (const ClusterNode& node : nodes) {
    const auto found = places_.find(node.spec.host);
    if (found != places_.end() && node.is_here() && found->second.told != stage_) tell(node, found->second);
  }
}

Json ClusterQueue::ticket_message(const Place& place) const {
  Json message = place.ticket;
  if (stage_ != Stage::enter) message["number"] = number_;
  return message;
}

void ClusterQueue::tell(const ClusterNode& node, Place& place) const {
  place.pid = node.pid;
  if (stage_ == Stage::begun) {
    node.wire->send({{"kind", "leave_queue"}, {"keep", true}});
  } else {
    if (stage_ != Stage::take || !place.told) node.wire->send(ticket_message(place));
    if (stage_ == Stage::take) node.wire->send({{"kind", "take"}, {"ticket", ticket_}});
  }
  place.told = stage_;
}

void ClusterQueue::ready(const ClusterNode& node) {
  const auto found = places_.find(node.spec.host);
  if (found == places_.end()) return;
  if (found->second.pid != 0 && found->second.pid != node.pid) lost();
  found->second.told.reset();
}

bool ClusterQueue::answered(const ClusterNode& node, const std::string& kind, const Json& message) {
  if (kind != "queued" && kind != "taken") return false;
  const auto found = places_.find(node.spec.host);
  const Fields fields(message, "message");
  if (found == places_.end() || fields.string("ticket") != ticket_) return true;  // of an earlier ticket
  Place& place = found->second;
  if (kind == "queued") {
    place.number = fields.integer("number", 0, INT64_MAX);
    if (const auto text = fields.optional_string("text")) place.text = *text;
    return true;
  }
  const size_t count = place.ticket["count"];
  std::vector<int> gpus;
  if (const Json* given = fields.find("gpus"); given != nullptr && given->is_array()) {
    for (const Json& gpu : *given) {
      if (gpu.is_number_integer()) gpus.push_back(gpu.get<int>());
    }
  }
  const Json& of = place.ticket["gpus"];
  const bool fits = gpus.size() == count &&
                    std::ranges::all_of(gpus, [&of](int gpu) { return std::ranges::find(of, Json(gpu)) != of.end(); });
  if (!fits) throw FieldError("message.gpus must be GPUs of the ticket, as many as it is for");
  place.taken = std::move(gpus);
  return true;
}

void Cluster::enter_queue(const std::string& ticket) {
  queue_ = std::make_unique<ClusterQueue>(*spec_.queue, nodes_, ticket);
}

void Cluster::leave_queue() {
  queue_.reset();
  for (ClusterNode& node : nodes_) ready_to_queue(node);
}

void Cluster::ready_to_queue(ClusterNode& node) {
  if (!spec_.queue || &node == &nodes_.front() || !node.is_here()) return;
  if (queue_) return queue_->ready(node);
  node.wire->send({{"kind", "leave_queue"}, {"keep", false}});
}

void Cluster::set_gpus(const std::string& host, const std::vector<int>& gpus) {
  if (ClusterNode* node = find(host)) node->spec.gpus = gpus;
}

}  // namespace trainyard
