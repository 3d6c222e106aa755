// Ranks that stand still: our trainer's by their heartbeats, an own program's by its output.
#include <algorithm>

#include "agent/ranks/rank_text.h"
#include "agent/supervise/generation.h"

namespace trainyard {

namespace {

constexpr double kStallSeconds = 30;  // without a step of any rank, before a `stalled` event

Json doing_json(const std::vector<Doing>& doing, const RankHosts& hosts) {
  Json list = Json::array();
  for (const Doing& one : doing) {
    list.push_back({{"rank", one.rank}, {"host", hosts.host_of(one.rank)}, {"what", one.what}});
  }
  return list;
}

std::string seconds_text(double seconds) { return std::to_string(static_cast<int>(seconds)) + " s"; }

}  // namespace

void Generation::look_for_hangs() {
  if (ending_) return;
  const std::vector<bool> excused = this->excused();
  const std::vector<int> late = heartbeats_.overdue(excused);
  if (late.empty()) return look_for_stall(excused);
  const Suspects suspects = this->suspects(spec_.hang_timeout / 2);
  const int64_t step = heartbeats_.last_step();
  listener_.hang(late, suspects.ranks, doing_json(suspects.doing, hosts_), step);
  blame(ranks_text(late) + " on " + hosts_text(late) + " made no progress for " + seconds_text(spec_.hang_timeout) +
            " (hangTimeout), last at step " + std::to_string(step),
        suspects);
  const bool first_hangs = std::ranges::find(suspects.ranks, 0) != suspects.ranks.end();
  first_hangs ? begin_ending(0) : give_up(0);
}

/// A stop has a limit of its own, and so has a start.
void Generation::look_for_silence(double now) {
  if (!silence_.watches() || ending_ || grace_ends_ > 0 || !all_started()) return;
  const bool came = silence_.look(now);
  if (came && silence_told_) listener_.silence("moving", {{"seconds", silence_.seconds_before()}});
  if (came) silence_told_ = false;
  if (!silence_.is_over() && (silence_told_ || !silence_.is_stalled())) return;
  const Suspects suspects = this->suspects(0);
  Json fields{{"silent", true}, {"doing", doing_json(suspects.doing, hosts_)}, {"last_step", nullptr}};
  if (!silence_told_) {
    fields["seconds"] = silence_.seconds();
    fields["waiting_for"] = waiting_for(suspects);
    listener_.silence("stalled", fields);
    silence_told_ = true;
  }
  if (!silence_.is_over()) return;
  const std::vector<int> longest = silence_.longest(excused());
  blame("no rank wrote to its log, and no figure came, for " + seconds_text(spec_.silence_timeout) +
            " (silenceTimeout); silent longest: " + ranks_text(longest) + " on " + hosts_text(longest) + ", for " +
            seconds_text(silence_.seconds_of(longest.front())),
        suspects);
  listener_.silence("hang", {{"silent", true},
                             {"ranks", longest},
                             {"suspects", suspects.ranks},
                             {"doing", doing_json(suspects.doing, hosts_)},
                             {"last_step", nullptr}});
  give_up(0);
}

void Generation::blame(const std::string& reason, const Suspects& suspects) {
  const std::string said = suspicion(suspects);
  own_reason_ = said.empty() ? reason : reason + "; " + said;
}

std::vector<bool> Generation::excused() const {
  std::vector<bool> excused;
  for (const Rank& rank : ranks_) excused.push_back(rank.record.has_value());
  return excused;
}

Json Generation::waiting_for(const Suspects& suspects) const {
  Json list = Json::array();
  for (const int rank : suspects.ranks) {
    list.push_back({{"rank", rank}, {"host", ranks_[static_cast<size_t>(rank)].program->host}});
  }
  return list;
}

Suspects Generation::suspects(double silent_seconds) const {
  std::vector<RankProcess> processes;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    const bool runs = ranks_[rank].program && !ranks_[rank].record;
    if (runs && heartbeats_.silent_seconds(static_cast<int>(rank)) > silent_seconds) {
      processes.push_back(*ranks_[rank].program);
    }
  }
  return hosts_.suspects(processes);
}

void Generation::look_for_stall(const std::vector<bool>& excused) {
  const double seconds = heartbeats_.stalled_seconds(excused);
  // With a short hangTimeout there must be time to say it before the ranks are ended.
  const double patience = spec_.hang_timeout > 0 ? std::min(kStallSeconds, spec_.hang_timeout / 4) : kStallSeconds;
  const bool stalled = seconds > patience;
  if (stalled && !stall_told_) {
    const Suspects suspects = this->suspects(seconds / 2);
    listener_.stalled(waiting_for(suspects), doing_json(suspects.doing, hosts_), seconds, heartbeats_.last_step());
  }
  stall_told_ = stalled;
}

}  // namespace trainyard
