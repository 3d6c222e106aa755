#include "agent/join/node_activity.h"

#include "agent/ranks/doing.h"
#include "agent/ranks/heartbeat.h"
#include "agent/system/clock.h"

namespace trainyard {

namespace {

constexpr double kSilentSeconds = 1;

}  // namespace

bool NodeActivity::is_silent(const RankProcess& program, bool is_training) {
  const auto heartbeat = read_heartbeat(folder_.heartbeat(program.rank));
  if (!heartbeat && !is_training) return false;
  const std::string text = heartbeat ? heartbeat->text : "";
  const double now = monotonic_seconds();
  Beat& beat = beats_[program.rank];
  const bool same = beat.process.pid == program.process.pid && beat.process.start_time == program.process.start_time;
  if (!same || beat.text != text) beat = {program.process, text, now};
  return now - beat.since >= kSilentSeconds;
}

Json NodeActivity::look(const std::vector<RankProcess>& programs, bool is_training) {
  Json list = Json::array();
  const std::vector<Activity> activities = watch_.look(programs);
  for (size_t index = 0; index < programs.size(); ++index) {
    const Activity& one = activities[index];
    Json told{{"rank", one.rank}, {"state", std::string(1, one.state)}, {"busy", one.busy}};
    if (is_silent(programs[index], is_training)) {
      const std::string doing = doing_of(programs[index].process.pid, one.busy);
      if (!doing.empty()) told["doing"] = doing;
    }
    list.push_back(std::move(told));
  }
  return list;
}

}  // namespace trainyard
