#include "agent/hang.h"

#include <sstream>

#include "agent/kill.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr int kLookMs = 330;
constexpr long kBusyTicks = 5;  // of about 33 in that time

struct Activity {
  char state = '?';
  long ticks = 0;  ///< user and system time
};

Activity activity_of(int pid) {
  try {
    const std::string text = read_file("/proc/" + std::to_string(pid) + "/stat");
    const size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return {};
    std::istringstream fields(text.substr(name_end + 1));
    Activity activity;
    fields >> activity.state;
    std::string skipped;
    for (int field = 4; field < 14; ++field) fields >> skipped;
    long user = 0, system = 0;
    fields >> user >> system;
    activity.ticks = user + system;
    return activity;
  } catch (const Error&) {
    return {};  // gone meanwhile
  }
}

}  // namespace

Suspects find_suspects(const std::vector<RankProcess>& late) {
  std::vector<Activity> before;
  Suspects stopped{{}, "is stopped"};
  for (const RankProcess& rank : late) {
    before.push_back(activity_of(rank.process.pid));
    if (before.back().state == 'T' || before.back().state == 't') stopped.ranks.push_back(rank.rank);
  }
  if (!stopped.ranks.empty()) return stopped;

  sleep_ms(kLookMs);
  Suspects idle{{}, "computes nothing while the others wait"};
  bool others_are_busy = false;
  for (size_t index = 0; index < late.size(); ++index) {
    const long used = activity_of(late[index].process.pid).ticks - before[index].ticks;
    if (used == 0) idle.ranks.push_back(late[index].rank);
    others_are_busy = others_are_busy || used >= kBusyTicks;
  }
  if (!others_are_busy) idle.ranks.clear();
  return idle;
}

}  // namespace trainyard
