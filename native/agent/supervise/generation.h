// One generation of a run: mpiexec with its ranks, from the start to the last exit record.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/ranks/exit_record.h"
#include "agent/ranks/heartbeat.h"
#include "agent/ranks/rank_hosts.h"
#include "agent/ranks/silence.h"
#include "agent/run/folder/run_spec.h"
#include "agent/run/run_state.h"
#include "agent/system/kill.h"
#include "agent/system/spawn.h"
#include "agent/system/watched_clock.h"

namespace trainyard {

/// How a generation ended.
struct GenerationResult {
  enum class Kind { finished, stopped, failed } kind = Kind::failed;
  int exit_code = 1;
  std::optional<std::string> reason;
  bool worth_retrying = false;  ///< not a user's mistake, so another generation may fare better
  std::string unended;          ///< which ranks SIGKILL did not end, as a sentence; empty: none
};

/// What a generation tells its supervisor while it goes on.
struct GenerationListener {
  std::function<void(const RankProcess&)> rank_started;
  std::function<void(const ExitRecord&)> rank_exited;
  /// The rank, which has started, waits until a debugger attaches.
  std::function<void(const RankProcess&, const DebugPlace&)> debugger_waiting;
  /// No rank has made a step for so many seconds. `waiting_for`: the ranks that the others wait
  /// for, as far as that is known, and `doing` what they do; both as the event has them.
  std::function<void(const Json& waiting_for, const Json& doing, double seconds, int64_t last_step)> stalled;
  /// `suspects`: those of `ranks` that the others seem to wait for.
  std::function<void(const std::vector<int>& ranks, const std::vector<int>& suspects, const Json& doing,
                     int64_t last_step)>
      hang;
  /// The same of an own program whose output is watched: `stalled`, `hang`, and `moving` where
  /// output comes again after `stalled`. The fields are those of the event.
  std::function<void(const char* kind, const Json& fields)> silence;
};

class Generation {
 public:
  /// Starts mpiexec. `hosts`, where the ranks run, must outlive this. `unkillable`: after how many
  /// seconds of SIGKILL a rank that does not end counts as lost, and no restart follows.
  Generation(const RunFolder& folder, const RunSpec& spec, int number, const Command& mpiexec,
             GenerationListener listener, RankHosts& hosts, double unkillable = kUnkillableSeconds);

  const ProcessId& mpiexec() const { return mpiexec_; }
  bool all_started() const;
  const std::vector<RankProcess>& ranks() const { return started_; }

  /// Looks at everything once; to be called about every 100 ms. True when no rank is left and the
  /// result stands.
  bool poll();
  /// To be told waitpid's status of mpiexec: ranks that end because it was killed are not to blame.
  void mpiexec_ended(int status);
  /// Passes one SIGTERM to every rank's program, and to those that start later.
  void ask_for_checkpoint();
  /// The same because a person asked for it: an own program that has not ended after its
  /// `stop_grace` is killed.
  void ask_to_stop();
  /// Whether a rank has failed, or the ranks are being ended.
  bool is_failing() const { return ending_ || failure_seen_ > 0; }
  /// Ends everything at once; `poll` returns true soon after.
  void end_now();
  /// Ends everything as a failure with this reason, unless it is ending already. Rank 0 of a
  /// training may write a checkpoint first.
  void end_because(const std::string& reason);
  /// Decides here whether the generation finished, stopped or failed.
  /// `stop_requested`: a rank that its SIGTERM ended counts as stopped.
  GenerationResult result(bool stop_requested) const;

 private:
  struct Rank {
    std::optional<RankProcess> program;
    std::optional<ProcessId> wrapper;
    std::optional<ExitRecord> record;
    double gone_since = 0;   ///< monotonic seconds at which neither process was found alive; 0: not so
    bool asked = false;      ///< had its SIGTERM
    uint64_t log_begin = 0;  ///< bytes in its log that are of earlier generations
  };

  void look_for_starts();
  void look_for_ends();
  void look_for_lost(double now);
  void declare_lost(int index);
  void look_for_hangs();
  void look_for_stall(const std::vector<bool>& excused);
  void look_for_silence(double now);
  /// The generation ends for this reason; what the suspects do is added.
  void blame(const std::string& reason, const Suspects& suspects);
  std::vector<bool> excused() const;
  Suspects suspects(double silent_seconds) const;
  Json waiting_for(const Suspects& suspects) const;
  void look_at_grace(double now);
  void look_at_start_deadline(double now);
  /// Begins the end of a generation whose ranks are lost or hang. Makes the given-up file for rank
  /// 0 of a training (common/given_up.h), which then has time for a checkpoint of its last whole
  /// step. The ranks of another program have `grace` seconds after SIGTERM.
  void give_up(double grace);
  /// Whether rank 0 is writing that checkpoint.
  bool rescues(double now);
  void begin_ending(double grace);
  void pass_on_terminations();
  void kill_what_is_left(double now);
  GenerationResult verdict(bool stop_requested) const;
  bool all_over() const;
  std::string mpiexec_last_words() const;
  std::string rank_log(int index) const;
  std::string hosts_text(const std::vector<int>& ranks) const;

  RunFolder folder_;
  RunSpec spec_;
  int number_;
  GenerationListener listener_;
  RankHosts& hosts_;
  ProcessId mpiexec_;
  std::vector<Rank> ranks_;
  std::vector<RankProcess> started_;
  HeartbeatWatch heartbeats_;
  SilenceWatch silence_;
  double begun_, next_slow_look_ = 0;
  double mpiexec_gone_since_ = 0;
  double failure_seen_ = 0;  ///< monotonic seconds of the first bad record
  bool asked_for_checkpoint_ = false;
  double grace_ends_ = 0;  ///< monotonic seconds; 0: nobody asked for a stop, or there is no limit
  bool grace_over_ = false;
  bool ending_ = false;
  bool stall_told_ = false, silence_told_ = false;
  double kill_at_ = 0;                       ///< monotonic seconds
  const double unkillable_;                  ///< seconds of killing_
  WatchedClock killing_;                     ///< since the first SIGKILL for everything
  std::vector<int> unended_;                 ///< ranks that SIGKILL did not end
  double rescue_ends_ = 0;                   ///< monotonic seconds; 0: nothing was given up
  std::optional<ExitRecord> first_failure_;  ///< before we ended the others
  std::optional<std::string> own_reason_;    ///< of end_because: a hang, a missed start, a lost node, mpiexec's end
};

}  // namespace trainyard
