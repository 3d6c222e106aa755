#include "agent/ranks/rank_hosts.h"

#include <fcntl.h>
#include <signal.h>

#include <cstdio>

#include "agent/system/kill.h"
#include "common/error.h"
#include "common/files.h"
#include "common/given_up.h"

namespace trainyard {

StartedRank parse_start_record(const Json& json, int rank) {
  StartedRank started;
  started.program.rank = rank;
  started.program.host = json.value("host", "");
  started.program.process = {json.value("pid", 0), json.value("startTime", uint64_t{0})};
  const Json wrapper = json.value("wrapper", Json::object());
  started.wrapper = ProcessId{wrapper.value("pid", 0), wrapper.value("startTime", uint64_t{0})};
  const auto debug = json.find("debug");
  if (debug != json.end() && debug->is_object()) {
    started.debug = DebugPlace{debug->value("port", 0), debug->value("folder", "")};
  }
  return started;
}

std::vector<NamedProcess> find_programs(const std::vector<StartedRank>& ranks) {
  std::vector<NamedProcess> programs;
  for (const StartedRank& rank : ranks) {
    if (!is_alive(rank.wrapper)) continue;
    const std::vector<NamedProcess> below = find_descendants(rank.wrapper.pid, {});
    programs.insert(programs.end(), below.begin(), below.end());
  }
  return programs;
}

std::string LocalRanks::host_of(int) const { return host_name(); }

bool LocalRanks::is_gone(const StartedRank& rank) const {
  return !is_alive(rank.program.process) && !is_alive(rank.wrapper);
}

void LocalRanks::terminate(const RankProcess& rank) { signal_process(rank.process, SIGTERM); }

void LocalRanks::kill_programs(const std::vector<StartedRank>& ranks) {
  Sweep([&ranks] { return find_programs(ranks); }).step();
}

bool LocalRanks::kill_everything() {
  Sweep sweep([this] { return find_marked_except(run_dir_, spared_); });
  sweep.step();
  return sweep.left().empty();
}

void LocalRanks::let_go(int generation) { say_all_ended(RunFolder(run_dir_), generation); }

namespace {

/// An empty file. Without it ranks are ended by force a little later.
void make_sign(const std::string& path) {
  const Descriptor made(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!made) std::fprintf(stderr, "agent: warning: cannot create %s\n", errno_message(path).c_str());
}

}  // namespace

void say_all_ended(const RunFolder& folder, int generation) { make_sign(folder.all_ended(generation)); }

void say_given_up(const RunFolder& folder, int generation) { make_sign(given_up_file(folder.dir(), generation)); }

}  // namespace trainyard
