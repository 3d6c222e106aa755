#include "agent/supervise/start_queue.h"

#include <algorithm>

#include "agent/messages/hmac.h"
#include "agent/system/clock.h"

namespace trainyard {

namespace {

constexpr double kLookSeconds = 2;
constexpr size_t kTicketBytes = 16;
constexpr size_t kMostNames = 2;  // that a text has

GpuTicket ticket_for(std::vector<int> indices, size_t count, const std::string& by) {
  return {random_hex(kTicketBytes), std::move(indices), static_cast<int>(count), by};
}

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

/// "process 4242 of bob".
std::string process_words(const Json& process) {
  const Json user = process.value("user", Json(nullptr));
  return "process " + std::to_string(process.value("pid", 0)) +
         (user.is_string() ? " of " + user.get<std::string>() : "");
}

std::string gpus_words(size_t wanted, const std::vector<int>& of) {
  if (wanted < of.size()) return wanted == 1 ? "a GPU" : std::to_string(wanted) + " GPUs";
  std::string text = of.size() == 1 ? "GPU" : "GPUs";
  for (size_t at = 0; at < of.size(); ++at) text += (at == 0 ? " " : ", ") + std::to_string(of[at]);
  return text;
}

/// Who is on these GPUs, each once.
std::string holders_text(const Json& gpus, const std::vector<int>& of) {
  std::vector<std::string> holders;
  for (const Json& gpu : gpus) {
    const int index = gpu.value("index", -1);
    if (std::ranges::find(of, index) == of.end()) continue;
    const Json holder = holder_of({index, gpu.value("uuid", "")});
    const Json processes = gpu.value("processes", Json::array());
    if (holder.is_null() && processes.empty()) continue;
    const std::string text = holder.is_null() ? process_words(processes.front()) : holder_words(holder);
    if (std::ranges::find(holders, text) == holders.end()) holders.push_back(text);
  }
  std::string text;
  for (size_t at = 0; at < std::min(holders.size(), kMostNames); ++at)
    text += (at == 0 ? "; held by " : ", ") + holders[at];
  return holders.size() > kMostNames ? text + " and " + std::to_string(holders.size() - kMostNames) + " more" : text;
}

}  // namespace

StartQueue::StartQueue(const RunSpec& spec, GpuHolder holder)
    : queue_(*spec.queue),
      wanted_(spec.head_gpus().size()),
      of_(wanted_ == 0 ? std::vector<int>() : queue_.nodes.front().gpus),
      holder_(std::move(holder)),
      sampler_(holder_.dir) {
  if (queue_.group.empty()) return;
  for_slot_ = std::make_unique<GpuTurn>(ticket_for(indices_of(slot_names(queue_.slots)), 1, queue_.by), queue_.place,
                                        slots_folder(queue_.group));
}

bool StartQueue::look() {
  if (monotonic_seconds() < next_look_) return false;
  if (for_slot_ && !look_at_slots()) {
    next_look_ = monotonic_seconds() + kLookSeconds;
    return false;
  }
  return wanted_ == 0 || look_at_gpus();
}

bool StartQueue::look_at_slots() {
  std::optional<GpuLocks> slot = for_slot_->look(slot_names(queue_.slots), holder_);
  text_ = "waiting for other runs of " + queue_.group + " to end: " + for_slot_->place() + "; " +
          std::to_string(queue_.slots) + " at a time";
  if (!slot) return false;
  locks_.add(std::move(*slot));
  for_slot_.reset();
  return true;
}

bool StartQueue::look_at_gpus() {
  if (!for_gpus_) for_gpus_ = std::make_unique<GpuTurn>(ticket_for(of_, wanted_, queue_.by));
  if (!asked_) asked_ = sampler_.ask();
  if (!sampler_.ready(*asked_)) return false;
  asked_.reset();
  next_look_ = monotonic_seconds() + kLookSeconds;
  const Json sample = sampler_.sample();
  const Json gpus = sample.value("gpus", Json::array());
  std::vector<GpuName> usable;
  for (const Json& gpu : gpus) {
    const bool works = gpu.value("problem", Json(nullptr)).is_null();
    if (works && gpu.value("processes", Json::array()).empty())
      usable.push_back({gpu.value("index", -1), gpu.value("uuid", "")});
  }
  std::optional<GpuLocks> locks = for_gpus_->look(usable, holder_);
  text_ = "waiting for " + gpus_words(wanted_, of_) + ": " + for_gpus_->place() + holders_text(gpus, of_);
  if (!locks) return false;
  locks_.add(std::move(*locks));
  gpus_ = for_gpus_->taken();
  for_gpus_.reset();
  return true;
}

}  // namespace trainyard
