// What a supervisor writes down: what a generation tells, and state.json.
#include <algorithm>
#include <cstdio>

#include "agent/run/lease.h"
#include "agent/supervise/supervisor.h"
#include "agent/system/clock.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

GenerationListener Supervisor::listener() {
  GenerationListener told;
  told.rank_started = [this](const RankProcess& rank) {
    state_.ranks.insert(std::ranges::upper_bound(state_.ranks, rank.rank, {}, &RankProcess::rank), rank);
    journal_.event("rank_started", {{"rank", rank.rank}, {"host", rank.host}, {"pid", rank.process.pid}});
  };
  told.debugger_waiting = [this](const RankProcess& rank, const DebugPlace& at) {
    journal_.event("debugger_waiting",
                   {{"rank", rank.rank}, {"host", rank.host}, {"port", at.port}, {"folder", at.folder}});
  };
  told.rank_exited = [this](const ExitRecord& record) {
    Json fields = record.to_json();
    for (const char* left_out : {"started", "ended", "last_line"}) fields.erase(left_out);
    if (record.lost) fields["lost"] = true;
    journal_.event("rank_exited", fields);
  };
  told.stalled = [this](const Json& waiting_for, const Json& doing, double seconds, int64_t last_step) {
    journal_.event("stalled",
                   {{"seconds", seconds}, {"waiting_for", waiting_for}, {"doing", doing}, {"last_step", last_step}});
  };
  told.hang = [this](const auto& ranks, const auto& suspects, const Json& doing, int64_t last_step) {
    journal_.event("hang", {{"ranks", ranks}, {"suspects", suspects}, {"doing", doing}, {"last_step", last_step}});
  };
  told.silence = [this](const char* kind, const Json& fields) { journal_.event(kind, fields); };
  return told;
}

void Supervisor::set_phase(const std::string& phase) {
  state_.phase = phase;
  save_state();
}

void Supervisor::save_state() {
  next_refresh_ = monotonic_seconds() + kLeaseRefreshSeconds;
  if (cluster_) describe_cluster();
  if (state_.phase == "queued") state_.started = now_seconds();  // it holds nothing that counts yet
  try {
    replace_file(folder_.state(), to_line(state_.to_json()) + "\n");
    state_saved_ = true;
  } catch (const Error& error) {  // a full disk must not end a run that still computes
    if (state_saved_) std::fprintf(stderr, "agent: warning: state.json not written: %s\n", error.what());
    state_saved_ = false;
  }
}

void Supervisor::save_what_waits() {
  if (!state_saved_) save_state();
  journal_.retry();
}

}  // namespace trainyard
