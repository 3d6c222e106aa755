#include "agent/supervise/generation.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>

#include "agent/ranks/rank_text.h"
#include "agent/system/clock.h"
#include "agent/system/tail.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr double kGraceSeconds = 5;        // between SIGTERM and SIGKILL for the rest of a failed group
constexpr double kCascadeSeconds = 0.5;    // ranks that one failure brings down: their records tell more than the first
constexpr double kExplanationSeconds = 3;  // for the record of a rank elsewhere whose loss made others abort
constexpr double kRecordSeconds = 1;       // for the wrappers of killed programs to write their records
constexpr double kSlowLookSeconds = 0.25;  // looks that read several files
constexpr double kMostPatience = 60;       // for rank 0 to come to where it waits for the others
constexpr double kMostSilence = 60;        // of rank 0 while it writes: no bytes move while the disk flushes them
constexpr double kMostRescueSeconds = 600;  // for its checkpoint, while it beats
constexpr double kLostSeconds = 1.5;        // a record may still be on its way to the disk

}  // namespace

Generation::Generation(const RunFolder& folder, const RunSpec& spec, int number, const Command& mpiexec,
                       GenerationListener listener, RankHosts& hosts, double unkillable)
    : folder_(folder),
      spec_(spec),
      number_(number),
      listener_(std::move(listener)),
      hosts_(hosts),
      ranks_(static_cast<size_t>(spec.ranks)),
      heartbeats_(folder, spec.ranks, spec.hang_timeout, spec.start_timeout, spec.is_trainer),
      silence_(folder, spec.ranks, spec.silence_timeout),
      begun_(monotonic_seconds()),
      unkillable_(unkillable) {
  remove_heartbeats(folder);
  folder.remove_records(number, 0, spec.ranks);
  for (size_t index = 0; index < ranks_.size(); ++index) {
    std::error_code absent;
    const uintmax_t size = std::filesystem::file_size(rank_log(static_cast<int>(index)), absent);
    ranks_[index].log_begin = absent ? 0 : size;
  }
  mpiexec_ = start_child(mpiexec);
}

std::string Generation::rank_log(int index) const { return folder_.log("rank-" + std::to_string(index)); }

bool Generation::all_started() const { return started_.size() == ranks_.size(); }

bool Generation::all_over() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.record.has_value(); });
}

void Generation::look_for_starts() {
  if (all_started()) return;
  for (size_t index = 0; index < ranks_.size(); ++index) {
    if (ranks_[index].program) continue;
    const auto json = read_json_object(folder_.start_record(number_, static_cast<int>(index)));
    if (!json) continue;
    const StartedRank record = parse_start_record(*json, static_cast<int>(index));
    const RankProcess& started = record.program;
    ranks_[index].wrapper = record.wrapper;
    ranks_[index].program = started;
    started_.push_back(started);
    listener_.rank_started(started);
    if (record.debug) listener_.debugger_waiting(started, *record.debug);
  }
}

void Generation::look_for_ends() {
  const double now = monotonic_seconds();
  bool failed = false;
  std::vector<ExitRecord> records;
  for (size_t index = 0; index < ranks_.size(); ++index) {
    Rank& rank = ranks_[index];
    if (!rank.record) {
      rank.record = read_exit_record(folder_.exit_record(number_, static_cast<int>(index)), static_cast<int>(index));
      if (!rank.record) continue;
      rank.record->seen = now;
      if (!rank.program) look_for_starts();  // it began and ended since the last look
      listener_.rank_exited(*rank.record);
    }
    records.push_back(*rank.record);
    failed = failed || rank.record->failed();
  }
  if (!failed || ending_ || grace_ends_ > 0) return;
  if (failure_seen_ == 0) failure_seen_ = now;
  const ExitRecord first = *first_failure(records);
  const double wait = first.may_be_consequence() ? kExplanationSeconds : kCascadeSeconds;
  if (now - failure_seen_ < wait && records.size() < ranks_.size()) return;
  first_failure_ = first;
  give_up(kGraceSeconds);
}

void Generation::look_for_lost(double now) {
  if (mpiexec_gone_since_ == 0 && !is_alive(mpiexec_)) mpiexec_gone_since_ = now;
  const bool mpiexec_gone = mpiexec_gone_since_ > 0 && now - mpiexec_gone_since_ > kLostSeconds;
  for (size_t index = 0; index < ranks_.size(); ++index) {
    Rank& rank = ranks_[index];
    if (rank.record) continue;
    const bool gone = rank.program ? hosts_.is_gone({*rank.program, *rank.wrapper}) : mpiexec_gone;
    if (!gone) {
      rank.gone_since = 0;
    } else if (rank.gone_since == 0) {
      rank.gone_since = now;
    } else if (now - rank.gone_since > kLostSeconds) {
      declare_lost(static_cast<int>(index));
    }
  }
  // Ranks that outlive mpiexec have lost one another.
  if (mpiexec_gone && !ending_ && !all_over()) {
    own_reason_ = "mpiexec ended while ranks were running: " + mpiexec_last_words();
    begin_ending(0);
  }
}

void Generation::declare_lost(int index) {
  Rank& rank = ranks_[static_cast<size_t>(index)];
  ExitRecord lost;
  lost.rank = index;
  lost.host = rank.program ? rank.program->host : hosts_.host_of(index);
  lost.pid = rank.program ? rank.program->process.pid : 0;
  lost.last_step = heartbeats_.step_of(index);
  lost.ended = now_seconds();
  lost.seen = monotonic_seconds();
  lost.lost = true;
  lost.last_line = last_error_line(rank_log(index), rank.log_begin);
  if (!rank.program) lost.last_line = "rank " + std::to_string(index) + " never started: " + mpiexec_last_words();
  rank.record = lost;
  listener_.rank_exited(lost);
  if (ending_) return;
  first_failure_ = lost;
  give_up(kGraceSeconds);
}

void Generation::look_at_start_deadline(double now) {
  if (ending_ || all_started() || now - begun_ <= spec_.start_timeout) return;
  own_reason_ = "only " + std::to_string(started_.size()) + " of " + std::to_string(ranks_.size()) +
                " ranks started within " + std::to_string(static_cast<int>(spec_.start_timeout)) +
                " s: " + mpiexec_last_words();
  begin_ending(0);
}

std::string Generation::hosts_text(const std::vector<int>& ranks) const {
  std::vector<std::string> hosts;
  for (const int rank : ranks) hosts.push_back(hosts_.host_of(rank));
  return trainyard::hosts_text(hosts);
}

void Generation::end_because(const std::string& reason) {
  if (ending_) return;
  own_reason_ = reason;
  give_up(0);
}

void Generation::give_up(double grace) {
  if (!spec_.is_trainer) return begin_ending(grace);
  const Rank& first = ranks_.front();
  if (!first.program || first.record) return begin_ending(0);
  rescue_ends_ = monotonic_seconds() + kMostRescueSeconds;
  say_given_up(folder_, number_);
  begin_ending(std::min(kMostPatience, kGraceSeconds + 2 * heartbeats_.longest_step()));
}

bool Generation::rescues(double now) {
  return now < rescue_ends_ && !ranks_.front().record && heartbeats_.writes_checkpoint(0, kMostSilence);
}

void Generation::begin_ending(double grace) {
  ending_ = true;
  kill_at_ = monotonic_seconds() + grace;
  if (grace > 0) ask_for_checkpoint();
}

void Generation::ask_for_checkpoint() {
  asked_for_checkpoint_ = true;
  pass_on_terminations();
}

void Generation::ask_to_stop() {
  if (!ending_ && failure_seen_ == 0 && spec_.stop_grace > 0) grace_ends_ = monotonic_seconds() + spec_.stop_grace;
  ask_for_checkpoint();
}

void Generation::look_at_grace(double now) {
  if (grace_ends_ == 0 || ending_ || now < grace_ends_) return;
  grace_over_ = true;
  begin_ending(0);
}

void Generation::pass_on_terminations() {
  for (Rank& rank : ranks_) {
    if (!asked_for_checkpoint_ || rank.asked || rank.record || !rank.program) continue;
    rank.asked = true;
    hosts_.terminate(*rank.program);
  }
}

void Generation::mpiexec_ended(int status) {
  if (!WIFSIGNALED(status) || ending_ || failure_seen_ > 0) return;
  own_reason_ = "mpiexec was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
                signal_name(WTERMSIG(status)) + "), which ends its ranks";
  begin_ending(0);
}

void Generation::end_now() {
  if (!ending_) begin_ending(0);
  rescue_ends_ = 0;
  kill_at_ = monotonic_seconds();
}

void Generation::kill_what_is_left(double now) {
  // First the programs and what they started, so that their wrappers still write how they ended;
  // then everything.
  const bool programs_only = now - kill_at_ < kRecordSeconds;
  if (programs_only) {
    std::vector<StartedRank> pending;
    for (const Rank& rank : ranks_) {
      if (!rank.record && rank.wrapper) pending.push_back({*rank.program, *rank.wrapper});
    }
    return hosts_.kill_programs(pending);
  }
  const bool all_gone = hosts_.kill_everything();
  if (killing_.look(now) < unkillable_ && !all_gone) return;
  for (size_t index = 0; index < ranks_.size(); ++index) {  // nobody is left who could write a record
    if (ranks_[index].record) continue;
    if (!all_gone) unended_.push_back(static_cast<int>(index));
    declare_lost(static_cast<int>(index));
  }
}

bool Generation::poll() {
  const double now = monotonic_seconds();
  look_for_starts();
  look_for_ends();
  if (now >= next_slow_look_) {
    next_slow_look_ = now + kSlowLookSeconds;
    look_for_lost(now);
    look_for_hangs();
    look_for_silence(now);
    look_at_start_deadline(now);
  }
  pass_on_terminations();
  look_at_grace(now);
  // Nobody else has anything to write.
  if (rescue_ends_ > 0 && ranks_.front().record) kill_at_ = std::min(kill_at_, now);
  if (ending_ && now >= kill_at_) {
    if (rescues(now)) {
      kill_at_ = now;  // the end begins where the rescue ends
    } else {
      kill_what_is_left(now);
    }
  }
  return all_over();
}

GenerationResult Generation::result(bool stop_requested) const {
  GenerationResult result = verdict(stop_requested);
  if (unended_.empty()) return result;
  // Its GPUs and ports are not free, and the next generation would wait for them for ever.
  result.worth_retrying = false;
  result.unended = ranks_text(unended_) + " on " + hosts_text(unended_) + " could not be ended by SIGKILL in " +
                   std::to_string(static_cast<int>(unkillable_)) +
                   " s, as in a call of a driver or disk that hangs. That node may need a reboot";
  result.reason = result.reason.value_or("stopped") + "; " + result.unended;
  return result;
}

GenerationResult Generation::verdict(bool stop_requested) const {
  std::vector<ExitRecord> records;
  for (const Rank& rank : ranks_) records.push_back(*rank.record);
  const auto all = [&records](auto condition) { return std::all_of(records.begin(), records.end(), condition); };

  // An own program says by no exit code that it stopped on request: many save and end with 0.
  const bool stopped = grace_ends_ > 0 && !first_failure_;
  const bool signalled = std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.asked; });

  GenerationResult result;
  const bool all_done = all([](const ExitRecord& one) { return one.succeeded(); });
  if (all_done && !(stopped && signalled)) {  // whatever happened while they ended
    result.kind = GenerationResult::Kind::finished;
    result.exit_code = 0;
    return result;
  }
  if (own_reason_) {
    result.reason = own_reason_;
    result.exit_code = 1;
    result.worth_retrying = true;
    return result;
  }
  if (stopped) {
    result.kind = GenerationResult::Kind::stopped;
    result.exit_code = grace_over_ ? 128 + SIGKILL : 75;
    if (grace_over_) {
      result.reason = "stopped: the program had not ended " + std::to_string(static_cast<int>(spec_.stop_grace)) +
                      " s after SIGTERM (stopGrace), and was killed";
    }
    return result;
  }
  // A command that knows nothing of 75 ends by the signal itself or says 128 + signal.
  const auto obeyed = [stop_requested](const ExitRecord& one) {
    const bool by_signal = one.signal == SIGTERM || one.exit_code == 128 + SIGTERM || one.exit_code == 128 + SIGINT;
    return one.succeeded() || one.stopped_on_request() || (stop_requested && by_signal);
  };
  if (all(obeyed)) {
    result.kind = GenerationResult::Kind::stopped;
    result.exit_code = 75;
    return result;
  }
  const ExitRecord failure = first_failure_ ? *first_failure_ : *first_failure(records);
  result.reason = failure.description();
  result.exit_code = failure.code();
  result.worth_retrying = failure.worth_retrying();
  return result;
}

std::string Generation::mpiexec_last_words() const {
  std::vector<std::string> lines = last_lines(folder_.log("mpiexec"), ranks_.size() + 2);
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("HYDRA_LAUNCH"); });
  return lines.empty() ? "mpiexec said nothing" : lines.back();
}

}  // namespace trainyard
