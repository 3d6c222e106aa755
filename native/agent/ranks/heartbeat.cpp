#include "agent/ranks/heartbeat.h"

#include <algorithm>
#include <filesystem>

#include "agent/messages/json.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr const char* kCheckpoint = "checkpoint";

/// Whether the other ranks wait for a rank in this phase.
bool is_awaited(const std::string& phase) {
  return phase == "starting" || phase == kCheckpoint || phase == "evaluating";
}

}  // namespace

std::optional<Heartbeat> read_heartbeat(const std::string& path) {
  const std::optional<Json> json = read_json_object(path);
  if (!json) return std::nullopt;  // absent, or caught in the middle of being overwritten
  const auto step = json->find("step");
  if (step == json->end() || !step->is_number_integer()) return std::nullopt;
  const auto phase = json->find("phase");
  const bool named = phase != json->end() && phase->is_string();
  return Heartbeat{step->get<int64_t>(), named ? phase->get<std::string>() : "", to_line(*json)};
}

HeartbeatWatch::HeartbeatWatch(const RunFolder& folder, int ranks, double timeout, double first_allowance,
                               bool required)
    : folder_(folder),
      timeout_(timeout),
      first_allowance_(first_allowance),
      required_(required),
      ranks_(static_cast<size_t>(ranks)) {}

void HeartbeatWatch::read_all(double now) {
  for (size_t index = 0; index < ranks_.size(); ++index) {
    Rank& rank = ranks_[index];
    const auto beat = read_heartbeat(folder_.heartbeat(static_cast<int>(index)));
    if (!beat || beat->text == rank.text) continue;
    const double gap = rank.step > 0 ? std::max(rank.longest, now - rank.changed) : 0;
    rank = {beat->text, beat->step, now, gap, true, beat->phase};
  }
}

std::vector<int> HeartbeatWatch::overdue(const std::vector<bool>& excused, double clock) {
  const double now = watched_.look(clock);
  read_all(now);
  double awaited = 0;
  for (size_t index = 0; index < ranks_.size(); ++index) {
    if (is_awaited(ranks_[index].phase) && !excused[index]) awaited = std::max(awaited, ranks_[index].changed);
  }
  std::vector<int> late;
  for (size_t index = 0; index < ranks_.size(); ++index) {
    Rank& rank = ranks_[index];
    // Kept: the wait is not held against a rank that beats a moment after the awaited one.
    if (rank.began) rank.changed = std::max(rank.changed, awaited);
    const double allowed = rank.began ? timeout_ : timeout_ + first_allowance_;
    const bool watched = timeout_ > 0 && !excused[index] && (rank.began || required_);
    if (watched && now - rank.changed > allowed) late.push_back(static_cast<int>(index));
  }
  return late;
}

bool HeartbeatWatch::writes_checkpoint(int rank, double seconds) {
  read_all(watched_.look(monotonic_seconds()));
  return ranks_[static_cast<size_t>(rank)].phase == kCheckpoint && silent_seconds(rank) < seconds;
}

double HeartbeatWatch::longest_step() const {
  double longest = 0;
  for (const Rank& rank : ranks_) longest = std::max(longest, rank.longest);
  return longest;
}

double HeartbeatWatch::silent_seconds(int rank) const {
  return watched_.seconds() - ranks_[static_cast<size_t>(rank)].changed;
}

double HeartbeatWatch::stalled_seconds(const std::vector<bool>& excused) const {
  std::optional<double> newest;
  double longest = 0;
  for (size_t index = 0; index < ranks_.size(); ++index) {
    if (excused[index]) continue;
    if (ranks_[index].step == 0) return 0;
    newest = std::max(newest.value_or(0), ranks_[index].changed);
    longest = std::max(longest, ranks_[index].longest);
  }
  const double seconds = newest ? watched_.seconds() - *newest : 0;
  return seconds > 3 * longest ? seconds : 0;
}

int64_t HeartbeatWatch::last_step() const {
  int64_t least = ranks_.front().step;
  for (const Rank& rank : ranks_) least = std::min(least, rank.step);
  return least;
}

void remove_heartbeats(const RunFolder& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder.heartbeats(), ignored)) {
    std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace trainyard
