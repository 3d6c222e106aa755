#include "agent/ranks/hang.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "agent/ranks/doing.h"
#include "agent/ranks/rank_text.h"
#include "agent/system/clock.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr int kLookMs = 330;
constexpr double kBusy = 0.15;
constexpr const char* kStopped = "is stopped";

struct Stat {
  char state = '?';
  long ticks = 0;
};

Stat stat_of(int pid) {
  try {
    const std::string text = read_file("/proc/" + std::to_string(pid) + "/stat");
    const size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return {};
    std::istringstream fields(text.substr(name_end + 1));
    Stat stat;
    fields >> stat.state;
    std::string skipped;
    for (int field = 4; field < 14; ++field) fields >> skipped;
    long user = 0, system = 0;
    fields >> user >> system;
    stat.ticks = user + system;
    return stat;
  } catch (const Error&) {
    return {};  // gone meanwhile
  }
}

}  // namespace

std::vector<Activity> ActivityWatch::look(const std::vector<RankProcess>& ranks) {
  std::vector<Activity> activities;
  std::map<int, Seen> seen;
  const double ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  for (const RankProcess& rank : ranks) {
    const Stat stat = stat_of(rank.process.pid);
    const Seen now{rank.process, stat.ticks, monotonic_seconds()};
    Activity activity{rank.rank, stat.state, 0};
    const auto found = before_.find(rank.rank);
    if (found != before_.end()) {
      const Seen& before = found->second;
      const bool same = before.process.pid == rank.process.pid && before.process.start_time == rank.process.start_time;
      const double used = static_cast<double>(now.ticks - before.ticks) / ticks_per_second;
      if (same && now.at > before.at) activity.busy = used / (now.at - before.at);
    }
    seen.emplace(rank.rank, now);
    activities.push_back(activity);
  }
  before_ = std::move(seen);
  return activities;
}

namespace {

Suspects without_doing(const std::vector<Activity>& late) {
  Suspects stopped{{}, kStopped};
  Suspects idle{{}, "computes nothing while the others wait"};
  bool others_are_busy = false;
  for (const Activity& activity : late) {
    if (activity.state == 'T' || activity.state == 't') stopped.ranks.push_back(activity.rank);
    // On a crowded machine one that polls may get hardly any time of a processor: it waits for one.
    const bool runs = activity.state == 'R';
    if (activity.busy <= 0 && !runs) idle.ranks.push_back(activity.rank);
    others_are_busy = others_are_busy || runs || activity.busy >= kBusy;
  }
  if (!stopped.ranks.empty()) return stopped;
  if (!others_are_busy) idle.ranks.clear();
  return idle;
}

bool is_told(const Suspects& suspects, int rank) {
  return suspects.ranks.empty() || std::ranges::find(suspects.ranks, rank) != suspects.ranks.end();
}

}  // namespace

Suspects judge(const std::vector<Activity>& late) {
  Suspects suspects = without_doing(late);
  for (const Activity& one : late) {
    if (suspects.doing.size() >= kMostTold) break;
    if (!one.doing.empty() && is_told(suspects, one.rank)) suspects.doing.push_back({one.rank, one.doing});
  }
  return suspects;
}

Suspects find_suspects(const std::vector<RankProcess>& late) {
  ActivityWatch watch;
  watch.look(late);
  sleep_ms(kLookMs);
  const std::vector<Activity> activities = watch.look(late);
  Suspects suspects = judge(activities);
  for (size_t index = 0; index < late.size() && suspects.doing.size() < kMostTold; ++index) {
    const int rank = late[index].rank;
    if (!is_told(suspects, rank)) continue;
    std::string what = doing_of(late[index].process.pid, activities[index].busy);
    if (!what.empty()) suspects.doing.push_back({rank, std::move(what)});
  }
  return suspects;
}

std::string suspicion(const Suspects& suspects) {
  const std::vector<Doing>& doing = suspects.doing;
  if (suspects.ranks.empty()) {
    return doing.size() == 1 ? "rank " + std::to_string(doing.front().rank) + " " + doing.front().what : "";
  }
  const std::string who = ranks_text(suspects.ranks);
  if (doing.empty()) return who + " " + suspects.why;
  if (suspects.ranks.size() > 1) {
    return who + " " + suspects.why + "; rank " + std::to_string(doing.front().rank) + " " + doing.front().what;
  }
  // That it is stopped is what it does.
  if (suspects.why == kStopped) return who + " " + doing.front().what;
  return who + " " + suspects.why + "; it " + doing.front().what;
}

}  // namespace trainyard
