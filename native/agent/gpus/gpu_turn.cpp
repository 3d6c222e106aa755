#include "agent/gpus/gpu_turn.h"

#include <algorithm>

#include "agent/messages/rpc_error.h"
#include "agent/system/clock.h"

namespace trainyard {

namespace {

/// How long a start waits for its next look, for each that is ahead of it. Each look reads all
/// tickets: without it a thousand trials of a sweep would read half a million of them a second.
constexpr double kSecondsEach = 0.25;
constexpr double kMostSeconds = 30;

/// "1st", "22nd", "113th".
std::string ordinal(size_t number) {
  const size_t tens = number % 100, ones = number % 10;
  const bool regular = (tens >= 11 && tens <= 13) || ones == 0 || ones > 3;
  static constexpr const char* kEndings[] = {"th", "st", "nd", "rd"};
  return std::to_string(number) + kEndings[regular ? 0 : ones];
}

}  // namespace

GpuTurn::GpuTurn(GpuTicket ticket, std::optional<int64_t> number, std::string folder)
    : ticket_(std::move(ticket)), folder_(std::move(folder)), queue_(folder_), number_(queue_.enter(ticket_, number)) {}

void GpuTurn::come_at(int64_t number) {
  number_ = queue_.enter(ticket_, number);
  next_look_ = 0;
}

std::optional<GpuLocks> GpuTurn::look(const std::vector<GpuName>& usable, const GpuHolder& holder) {
  if (monotonic_seconds() < next_look_) return std::nullopt;
  std::vector<int> free;
  for (const int index : ticket_.gpus) {
    const auto found = std::ranges::find(usable, index, &GpuName::index);
    if (found != usable.end() && holder_of(*found, folder_).is_null()) free.push_back(index);
  }
  ahead_.clear();
  const Json waiting = waiting_starts(folder_);
  const auto own =
      std::ranges::find_if(waiting, [this](const Json& one) { return one.value("ticket", "") == ticket_.id; });
  if (own == waiting.end()) {  // somebody has removed it, as a cleaner of old files does
    queue_.enter(ticket_, std::nullopt);
    return std::nullopt;
  }
  for (const Json& other : waiting) {
    if (!comes_before(other, *own)) continue;
    ahead_.push_back(other.value("by", ""));
    int kept = other.value("count", 0);
    for (const Json& index : other.value("gpus", Json::array())) {
      if (kept > 0 && std::erase(free, index.get<int>()) > 0) --kept;
    }
  }
  next_look_ = monotonic_seconds() + std::min(kMostSeconds, kSecondsEach * static_cast<double>(ahead_.size()));
  if (free.size() < static_cast<size_t>(ticket_.count)) return std::nullopt;
  free.resize(static_cast<size_t>(ticket_.count));
  std::vector<GpuName> names;
  for (const int index : free) names.push_back(*std::ranges::find(usable, index, &GpuName::index));
  try {
    GpuLocks locks(names, holder, folder_);
    GpuTicket narrowed = ticket_;
    narrowed.gpus = free;
    queue_.enter(narrowed, number_);
    ticket_ = std::move(narrowed);
    taken_ = std::move(free);
    return locks;
  } catch (const RpcError& error) {
    if (error.code() != RpcCode::taken) throw;
    return std::nullopt;  // another start was quicker
  }
}

std::string GpuTurn::position() const { return ordinal(ahead_.size() + 1) + " in the queue"; }

std::string GpuTurn::place() const {
  std::string text = position();
  std::vector<std::string> named;
  for (const std::string& by : ahead_) {
    if (by.empty() || std::ranges::find(named, by) != named.end()) continue;
    text += (named.empty() ? ", behind " : ", ") + by;
    named.push_back(by);
  }
  return text;
}

}  // namespace trainyard
