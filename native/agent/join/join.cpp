#include "agent/join/join.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "agent/join/join_head.h"
#include "agent/join/mirror_copy.h"
#include "agent/join/node_activity.h"
#include "agent/join/node_copy.h"
#include "agent/join/node_gpus.h"
#include "agent/join/node_ranks.h"
#include "agent/join/share_copy.h"
#include "agent/run/sample_log.h"
#include "agent/system/clock.h"
#include "agent/system/kill.h"
#include "agent/system/paths.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

/// Seconds after which ranks that nobody watches are ended: they are gone within 20 s, before the
/// head counts the node as lost.
constexpr double kEndWithoutHead = 18;
constexpr double kLeaveWithoutHead = 3600;
constexpr double kLeaveUnknown = 2;    // and the head's name cannot be resolved; it never joined
constexpr double kLeaveGone = 20;      // without the supervisor at its port
constexpr double kSweepSeconds = 1;    // between two looks at all processes of the machine
constexpr int kCleanSweeps = 3;        // in a row, and no more looks are needed
constexpr double kSettleSeconds = 12;  // for the ranks to be gone
constexpr double kDrainSeconds = 30;   // for the logs to reach the head
constexpr double kActivitySeconds = 1;
constexpr double kMirrorSeconds = 90;  // for the last files of the run; the head ends it sooner
/// For a last checkpoint when this process is asked to end; Slurm gives 30 s.
constexpr double kGraceSeconds = 25;

Descriptor take_lock(const RunFolder& folder, const std::string& host) {
  const std::string path = folder.node(host, "join.lock");
  Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) throw file_error("open", path);
  const double deadline = monotonic_seconds() + kSettleSeconds;  // the guard of one that was killed may still sweep
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw file_error("lock", path);
    const auto before = read_join_record(folder, host);
    if ((before && before->lives) || monotonic_seconds() >= deadline) {
      throw Error(Exit::usage,
                  "this node has joined the run in " + folder.dir() + " already. Nothing needs to be done");
    }
    sleep_ms(100);
  }
  return lock;
}

sigset_t block_signals() {
  sigset_t handled;
  ::sigemptyset(&handled);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&handled, number);
  ::sigprocmask(SIG_BLOCK, &handled, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return handled;
}

std::vector<int> numbers(const Json& message) {
  const Json* list = Fields(message, "message").find("ranks");
  return list == nullptr ? std::vector<int>() : list->get<std::vector<int>>();
}

class Join {
 public:
  Join(const RunFolder& folder, const std::string& host, int lock_fd, GpuLocks gpus)
      : folder_(folder),
        host_(host),
        handled_(block_signals()),
        gpus_(folder, host, lock_fd, std::move(gpus)),
        spec_(read_join_spec(folder, host)),
        head_(spec_),
        ranks_(folder, spec_),
        copy_(folder, host),
        samples_(folder),
        activity_(folder) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    say("connecting");
  }

  int run() {
    while (!over_) {
      head_.wait(ranks_.control().fd(), ranks_.control().events());
      if (step() == Step::leave) return leave();
    }
    say("over");
    finish_mirror();
    return 0;
  }

 private:
  enum class Step { go_on, leave };

  Step step() {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const timespec now_only{0, 0};
    const int number = ::sigtimedwait(&handled_, nullptr, &now_only);
    if (number == SIGTERM || number == SIGINT) {
      why_ = std::string("signal ") + std::to_string(number);
      if (leaving_since_ > 0 || ranks_.count() == 0) return Step::leave;
      ask_to_stop();
    }
    if (head_.step()) welcomed_ = false;
    take_messages();
    ranks_.look();
    ranks_.control().pump_local();
    if (Wire* wire = head_.wire(); wire != nullptr && welcomed_) {
      tell(*wire);
    } else if (head_.lost_since() > 0 && (state_ == "joined" || head_.why() != told_why_)) {
      say(state_ == "joined" ? "connecting" : state_);
    }
    if (gpus_.look(welcomed_ ? head_.wire() : nullptr)) say(state_);
    take_sample();
    settle();
    if (leaving_since_ > 0 && may_leave()) return Step::leave;
    return without_head();
  }

  /// This node goes away: the ranks here tell the others, and all of them save what they have.
  void ask_to_stop() {
    leaving_since_ = monotonic_seconds();
    if (Wire* wire = head_.wire(); wire != nullptr && welcomed_) wire->send({{"kind", "leaving"}, {"why", why_}});
    std::vector<int> all;
    for (int rank = ranks_.first(); rank < ranks_.first() + ranks_.count(); ++rank) all.push_back(rank);
    ranks_.terminate(all);
  }

  bool may_leave() {
    if (monotonic_seconds() - leaving_since_ > kGraceSeconds) return true;
    if (!ranks_.all_ended()) return false;
    // With the head there, it says when the run is over, and has its logs and records then.
    return head_.wire() == nullptr;
  }

  void take_messages() {
    while (const auto message = head_.next()) {
      try {
        obey(*message);
      } catch (const std::exception& error) {  // a generation that cannot start here is the head's to end
        std::fprintf(stderr, "agent: error: %s\n", error.what());
        if (Wire* wire = head_.wire()) wire->send({{"kind", "trouble"}, {"message", error.what()}});
      }
    }
  }

  void obey(const Json& message) {
    const Fields fields(message, "message");
    const std::string kind = fields.string("kind");
    if (gpus_.obey(message, *head_.wire())) return;
    if (kind == "welcome") {
      welcome(fields);
    } else if (kind == "generation") {
      ranks_.kill_everything(spared());
      settling_.reset();
      copy_.begin(static_cast<int>(fields.integer("number", 1, INT32_MAX)),
                  static_cast<int>(fields.integer("first", 0, INT32_MAX)),
                  static_cast<int>(fields.integer("count", 1, INT32_MAX)));
      if (!shared_ && !fields.boolean_or("trainer", false)) copy_.follow_figures();
      ranks_.begin(message);
    } else if (kind == "control") {
      const bool of_this_generation = fields.integer("generation", 1, INT32_MAX) == ranks_.generation();
      if (of_this_generation) ranks_.control().take(fields);
    } else if (kind == "terminate") {
      ranks_.terminate(numbers(message));
    } else if (kind == "kill_programs") {
      ranks_.kill_programs(numbers(message));
    } else if (kind == "kill") {
      const auto left = ranks_.kill_everything(spared());
      head_.wire()->send({{"kind", "killed"}, {"round", fields.integer("round", 0, INT64_MAX)}, {"left", left.size()}});
    } else if (kind == "let_go") {
      say_all_ended(folder_, static_cast<int>(fields.integer("generation", 1, INT32_MAX)));
    } else if (kind == "mirror") {
      if (!mirror_) mirror_ = start_mirror_copy(folder_, spec_);
    } else if (kind == "share") {
      share_.reset();  // an earlier copy must not write on
      share_ = start_share_copy(folder_, spec_, fields.string("folder"));
    } else if (kind == "settle" || kind == "over") {
      settling_ = Settling{fields.integer("number", 0, INT32_MAX), kind == "over", monotonic_seconds()};
    }
  }

  void welcome(const Fields& fields) {
    is_head_ = fields.boolean_or("head", false);
    const auto probe = read_json_object(folder_.file("nodes/probe.json"));
    shared_ = probe && probe->value("token", "") == fields.string("token");
    const auto part = [&](const char* name) { return fields.find(name) == nullptr ? Json() : *fields.find(name); };
    copy_.set_offsets(part("copied"), part("timed"), part("figures"));
    copy_.begin(ranks_.generation(), ranks_.first(), ranks_.count());
    ranks_.forget_told_gone();
    ranks_.control().rewind();
    head_.wire()->send({{"kind", "ready"},
                        {"shared", shared_},
                        {"pid", ::getpid()},
                        {"generation", ranks_.generation()},
                        {"figures", copy_.figures_offset()}});
    welcomed_ = was_welcomed_ = true;
    next_beat_ = 0;
    say("joined");
  }

  void tell(Wire& wire) {
    ranks_.control().pump_wire(wire);
    if (shared_) {
      const double now = monotonic_seconds();
      if (now >= next_beat_) {
        next_beat_ = now + 1;
        wire.send({{"kind", "beat"}, {"generation", ranks_.generation()}, {"ranks", Json::array()}});
      }
      // The head would see them too, but a network file system may show a new name a minute late.
      if (!is_head_) copy_.send_records(wire);
    } else {
      copy_.pump(wire);
    }
    for (const int rank : ranks_.newly_gone()) {
      wire.send({{"kind", "gone"}, {"generation", ranks_.generation()}, {"rank", rank}});
    }
    tell_activity(wire);
  }

  /// Of processes elsewhere the head sees nothing, and would not know which of ranks that stand
  /// still is stopped.
  void tell_activity(Wire& wire) {
    const double now = monotonic_seconds();
    if (now < next_activity_) return;
    next_activity_ = now + kActivitySeconds;
    const Json list = activity_.look(ranks_.programs(), ranks_.is_training());
    if (list.empty()) return;
    wire.send({{"kind", "activity"}, {"generation", ranks_.generation()}, {"ranks", list}});
  }

  void take_sample() {
    if (is_head_ || gpus_.waits()) return;  // the supervisor does; what others do meanwhile is not the run's
    const auto line = samples_.tick();
    if (line && welcomed_ && !shared_ && head_.wire() != nullptr) {
      head_.wire()->send({{"kind", "sample"}, {"line", *line}});
    }
  }

  void settle() {
    if (!settling_) return;
    const double waited = monotonic_seconds() - settling_->since;
    const auto left = ranks_.kill_everything(spared());
    settling_->clean_rounds = left.empty() ? settling_->clean_rounds + 1 : 0;
    if (settling_->clean_rounds < 2 && waited < kSettleSeconds) return;
    Wire* wire = head_.wire();
    if (wire == nullptr || !welcomed_) return;
    if (!shared_ && !copy_.drained() && waited < kDrainSeconds) return;
    if (settling_->over && !copy_.concluded(*wire) && waited < kDrainSeconds) return;
    Json names = Json::array();
    for (const NamedProcess& one : left) names.push_back({{"pid", one.process.pid}, {"what", one.what}});
    if (settling_->over) gpus_.give_back();
    wire->send({{"kind", "settled"}, {"number", settling_->number}, {"left", names}});
    over_ = settling_->over;
    settling_.reset();
    if (over_) head_.finish();
  }

  Step without_head() {
    if (head_.lost_since() == 0) {
      next_sweep_ = 0;
      clean_sweeps_ = 0;
      return Step::go_on;
    }
    const double alone = monotonic_seconds() - head_.lost_since();
    if (alone > kLeaveWithoutHead) {
      why_ = "the head was not seen for an hour";
      return Step::leave;
    }
    if (!was_welcomed_ && head_.unknown_for() > kLeaveUnknown) {
      why_ = head_.why();
      return Step::leave;
    }
    if (head_.gone_for() > kLeaveGone) {
      why_ = head_.why() + " for 20 s: the supervisor is gone, so the run is over";
      return Step::leave;
    }
    if (monotonic_seconds() >= next_folder_look_) {
      next_folder_look_ = monotonic_seconds() + kActivitySeconds;
      if (is_gone(folder_.node(host_, "join.json"))) {
        why_ = "the run's folder was deleted";
        return Step::leave;
      }
    }
    if (alone > kEndWithoutHead) {
      const bool due = clean_sweeps_ < kCleanSweeps && monotonic_seconds() >= next_sweep_;
      if (ranks_.count() > 0 && due) {  // nothing starts anew without the head
        next_sweep_ = monotonic_seconds() + kSweepSeconds;
        clean_sweeps_ = ranks_.kill_everything(spared()).empty() ? clean_sweeps_ + 1 : 0;
      }
      if (state_ != "alone") say("alone");  // it is what is left of a run now, until the head is back
    }
    return Step::go_on;
  }

  void finish_mirror() {
    if (!mirror_) return;
    mirror_->finish();
    const double deadline = monotonic_seconds() + kMirrorSeconds;
    const timespec moment{0, 50'000'000};
    while (!mirror_->has_ended() && monotonic_seconds() < deadline) {
      const int number = ::sigtimedwait(&handled_, nullptr, &moment);
      if (number == SIGTERM || number == SIGINT) return;
    }
  }

  int leave() {
    Sweep sweep([this] { return ranks_.kill_everything(spared()); });
    sweep.run(kSettleSeconds);
    gpus_.give_back();
    std::fprintf(stderr, "agent: error: this node leaves the run: %s\n", why_.c_str());
    say("over");
    return 1;
  }

  std::set<int> spared() const { return gpus_.spared({samples_.asker(), copy_.pid()}); }

  void say(const std::string& state) {
    state_ = state;
    told_why_ = head_.why();
    const Json json{{"pid", ::getpid()},    {"startTime", process_start_time(::getpid()).value_or(0)},
                    {"bootId", boot_id()},  {"guard", gpus_.guard()},
                    {"state", state},       {"why", head_.why()},
                    {"time", now_seconds()}};
    try {
      replace_file(folder_.node(host_, "join.state.json"), to_line(json) + "\n");
    } catch (const Error& error) {
      std::fprintf(stderr, "agent: warning: %s\n", error.what());
    }
  }

  struct Settling {
    int64_t number = 0;
    bool over = false;
    double since = 0;
    int clean_rounds = 0;
  };

  RunFolder folder_;
  std::string host_;
  sigset_t handled_;
  NodeGpus gpus_;
  JoinSpec spec_;
  HeadConnection head_;
  NodeRanks ranks_;
  NodeCopy copy_;
  SampleLog samples_;
  NodeActivity activity_;
  std::unique_ptr<FileCopyThread> mirror_, share_;  ///< where the head has asked this node for it
  std::optional<Settling> settling_;
  std::string state_, why_, told_why_;
  bool over_ = false, welcomed_ = false, was_welcomed_ = false, shared_ = false, is_head_ = false;
  double next_beat_ = 0, next_activity_ = 0, next_folder_look_ = 0, next_sweep_ = 0;
  int clean_sweeps_ = 0;      ///< without the head
  double leaving_since_ = 0;  ///< monotonic seconds; 0: nobody asked for it
};

}  // namespace

std::optional<JoinRecord> read_join_record(const RunFolder& folder, const std::string& host) {
  const auto json = read_json_object(folder.node(host, "join.state.json"));
  if (!json) return std::nullopt;
  JoinRecord record;
  record.process = {json->value("pid", 0), json->value("startTime", uint64_t{0})};
  record.state = json->value("state", "");
  record.why = json->value("why", "");
  record.lives = json->value("bootId", "") == boot_id() && is_alive(record.process);
  return record;
}

int join_run(const std::string& run_dir, const std::string& host, GpuLocks gpus) {
  if (!is_run_id(host)) throw Error(Exit::usage, "--host must be the profile's name of this node");
  ::setenv("TRAINYARD_HOST", host.c_str(), 1);
  const RunFolder folder(run_dir);
  folder.make_folders();
  const Descriptor lock = take_lock(folder, host);
  gpus.say({std::filesystem::path(folder.dir()).filename().string(), folder.dir()});
  return Join(folder, host, lock.get(), std::move(gpus)).run();
}

}  // namespace trainyard
