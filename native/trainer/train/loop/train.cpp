#include "trainer/train/loop/train.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <span>

#include "common/checkpoint/checkpoint_folders.h"
#include "common/process.h"
#include "trainer/base/note.h"
#include "trainer/base/parallel.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/data/source.h"
#include "trainer/ops/cuda_library.h"
#include "trainer/ops/plans/timed_plans.h"
#include "trainer/train/ending/abort_guard.h"
#include "trainer/train/evaluate/rank_evaluation.h"
#include "trainer/train/loop/batch_feed.h"
#include "trainer/train/loop/best_step.h"
#include "trainer/train/loop/checkpoint_writer.h"
#include "trainer/train/loop/serve.h"
#include "trainer/train/loop/setup.h"
#include "trainer/train/loop/train_log.h"
#include "trainer/train/loop/training_step.h"
#include "trainer/train/loop/worker_sums.h"
#include "trainer/train/plan/plan.h"
#include "trainer/train/plan/same_data.h"
#include "trainer/train/process/gpu_memory.h"
#include "trainer/train/process/heartbeat.h"
#include "trainer/train/process/interval.h"
#include "trainer/train/process/io_beat.h"
#include "trainer/train/process/step_times.h"
#include "trainer/train/process/use_threads.h"
#include "trainer/train/weights/finite.h"
#include "trainer/train/weights/init_weights.h"
#include "trainer/train/weights/snapshot.h"
#include "trainer/train/weights/weight_average.h"

namespace trainyard {
namespace {

/// One run from its first step to its last: what the steps share, so that each part below stays
/// short.
class TrainRun {
 public:
  TrainRun(const TrainOptions& options, const Team& team, const StopSignals& signals)
      : options_(options),
        team_(team),
        workers_(team.peers()),
        signals_(signals),
        stop_file_(options.run_dir),
        plans_(make_timed_plans(tune_on(options.tune, options.device))) {}

  Exit run() {
    prepare();
    const Exit exit = steps_or_rescue();
    step_->strategy().end(exit == Exit::stopped);
    finish(exit);
    return exit;
  }

 private:
  bool leader() const { return workers_.rank() == 0; }
  /// Weights are the same on every rank, and statistics are rank 0's in a checkpoint.
  bool keeps_average() const { return leader() && options_.ema > 0; }

  void prepare() {
    if (leader()) std::filesystem::create_directories(options_.run_dir);
    heartbeat_ = std::make_unique<Heartbeat>(options_.run_dir, team_.world().rank());
    heartbeat_->beat(0, "starting");
    const IoBeat alive([this] { heartbeat_->beat(0, "starting"); });
    device_sums_ = set_up_sums(
        {.comm = options_.comm, .device = options_.device, .all_reduce = options_.strategy.all_reduce}, team_);
    open_data();
    build();
    if (leader()) start_log();
  }

  void open_data() {
    choose_image_sizes(options_, plan_);
    share_batch(options_, workers_.world(), plan_);
    const auto alive = [this] { heartbeat_->beat(0, "starting"); };
    dataset_ = open_dataset(options_.data, plan_.image_size, dataset_options(options_, leader(), alive));
    plan_.classes = static_cast<int>(dataset_->class_names().size());
    plan_.class_names = dataset_->class_names();
    plan_.images = dataset_->size();
    require_same_data(*dataset_, options_.data, workers_);
    LoaderOptions loader = loader_options(options_, plan_, workers_);
    loader.on_bad_image = [this](const std::string& path, const std::string& message) { bad_image(path, message); };
    loader_ = make_loader(*dataset_, loader);
    if (options_.eval_on == "ranks") {
      evaluation_ = std::make_unique<RankEvaluation>(options_, plan_, loader.threads, workers_);
    }
    plan_.steps_per_epoch = loader_->steps_per_epoch();
  }

  void build() {
    // Only rank 0's folder holds checkpoints where the ranks run on several hosts.
    if (leader()) {
      resume();
      // A run that goes on has its own weights, and the file may be gone by then.
      if (!plan_.resume_from) require_init_weights(options_);
    }
    finish_plan(options_, plan_);
    say_recipe_changes(plan_);
    const double start = static_cast<double>(plan_.start_step);
    plan_.start_step = std::llround(workers_.gather(std::span(&start, 1)).front());
    // While the network is made.
    if (plan_.start_step < plan_.total_steps) loader_->start(plan_.start_step);
    NetworkOptions network = network_options(options_, plan_);
    network.averages = keeps_average();
    network.plans = plans_.get();
    network.device_index = own_cuda_device(workers_.local_rank());
    StepOptions step = step_options(options_, plan_);
    step.device_sums = device_sums_;
    step_ = std::make_unique<TrainingStep>(workers_, network, step, team_.maker());
    if (keeps_average()) average_.emplace(step_->network(), step_->device(), options_.ema);
    if (leader() && plan_.resume_from) {
      load_training(*plan_.resume_from, step_->network(), step_->strategy().state(), average_ ? &*average_ : nullptr);
      last_checkpoint_ = *plan_.resume_from;
      const auto scaling = loss_scaler_state(read_checkpoint_state(*plan_.resume_from));
      if (scaling) step_->restore_loss_scaler(*scaling);
    } else if (leader() && !options_.init_weights.empty()) {
      begin_from(options_.init_weights);
    }
    step_->distribute();
    if (!leader()) return;
    say_memory(device_memory(step_->network(), evaluation_.get()), step_->network().memory_to_come());
    if (plans_) std::fprintf(stderr, "trainer: note: %s\n", plans_->summary().c_str());
  }

  void resume() {
    Resume resume = find_resume(options_);
    plan_.resume_from = std::move(resume.from);
    passed_over_ = std::move(resume.passed_over);
    for (const CheckpointInfo& one : passed_over_) {
      std::fprintf(stderr, "trainer: warning: the checkpoint of step %lld was passed over: %s\n",
                   static_cast<long long>(one.step), one.reason.c_str());
    }
  }

  void begin_from(const std::string& path) {
    made_new_ = init_weights(path, step_->network());
    say_made_new(path, plan_.classes, made_new_);
  }

  void start_log() {
    log_ = std::make_unique<TrainLog>(options_, plan_, team_);
    log_->start(step_->network(), {.device_sums = device_sums_, .made_new = made_new_, .passed_over = passed_over_});
  }

  Exit steps_or_rescue() {
    try {
      std::optional<AbortGuard> guard;
      if (leader() && workers_.world() > 1) guard.emplace([this] { rescue(); });
      return steps();
    } catch (const Error& error) {
      if (leader() && error.code() == Exit::internal) rescue();
      throw;
    }
  }

  /// Other ranks are lost: writes what this one has of the last whole step, for the restart.
  void rescue() {
    try {
      settle_checkpoint();
      const bool written = std::filesystem::path(last_checkpoint_).filename() == step_name(done_);
      const bool whole = !written && !judging_ && !has_servers(team_.strategy()) && step_->take_back();
      if (!whole || !step_->is_finite()) return;
      step_->collect();
      checkpoint();
      settle_checkpoint();
      heartbeat_->beat(done_, "stopping");  // the supervisor need not wait for a checkpoint any more
    } catch (const std::exception& error) {
      std::fprintf(stderr, "trainer: warning: step %lld could not be saved: %s\n", static_cast<long long>(done_),
                   error.what());
    }
  }

  Exit steps() {
    started_ = now_seconds();
    interval_.restart();
    const auto busy = [this] { return step_->network().busy(); };
    feed_ = std::make_unique<BatchFeed>(*loader_, busy, plan_.image_size, plan_.total_steps);
    done_ = plan_.start_step;
    if (resumed_unevaluated()) evaluate();
    if (evaluation_ && leader()) look_for_gain();
    while (done_ < plan_.total_steps) {
      const Wishes granted = one_step();
      const bool last = done_ == plan_.total_steps || granted.finish;
      const bool stop = granted.stop;
      const bool keep = done_ % plan_.checkpoint_every == 0 || last || stop;
      const bool report = done_ % options_.log_every == 0 || last || stop;
      if (keep) step_->collect();
      if (average_ && done_ % options_.ema_every == 0) average_->add(in_warmup(done_ - options_.ema_every));
      if (keep || report) require_good_weights();
      if (report) write_interval();
      if (keep) checkpoint();
      const bool cancelled = keep && (last || !stop) && evaluate() == Judged::cancelled;
      if (last || stop || cancelled) settle_checkpoint();
      // A resume makes up for an evaluation that was cancelled, since it goes on from its step.
      if (cancelled || (stop && !last)) return Exit::stopped;
      if (granted.finish) break;
    }
    return Exit::ok;
  }

  /// Returns what the world agreed on.
  Wishes one_step() {
    const Stopwatch clock;
    const BatchView view = feed_->take(done_);
    const double lr = plan_.schedule.at(done_);
    const bool wanted = signals_.requested() || (leader() && stop_file_.requested());
    const StepOutcome outcome = update(view, lr, {.stop = wanted, .finish = nothing_to_gain_});
    feed_->done();
    const double input_wait_ms = feed_->take_waited_ms();
    interval_.input_wait_ms += input_wait_ms;
    ++done_;
    interval_.add(outcome.loss, outcome.top1, outcome.comm_ms, lr);
    interval_.gradient_norm += outcome.gradient_norm;
    heartbeat_->beat(done_, outcome.wishes.stop ? "stopping" : "training");
    times_.add({.whole_ms = clock.milliseconds(), .comm_ms = outcome.comm_ms, .input_wait_ms = input_wait_ms});
    return outcome.wishes;
  }

  StepOutcome update(const BatchView& view, double lr, const Wishes& wishes) {
    try {
      return step_->run(view, done_ + 1, lr, wishes, [this] { return feed_->ahead(); });
    } catch (const Diverged& diverged) {
      throw diverged_error(diverged.what());
    }
  }

  Error diverged_error(const std::string& what) const {
    const std::string good = !leader()                  ? ""
                             : last_checkpoint_.empty() ? "No checkpoint was written yet. "
                                                        : "The last good checkpoint is " + last_checkpoint_ + ". ";
    return {Exit::data,
            what + ". " + good + "Lower --lr, add --warmup-epochs or --clip-norm, and start again with --resume auto"};
  }

  /// An infinite weight may hide behind a ReLU and leave the loss finite. Weights are the same on
  /// every rank, so all of them end here; running statistics are each rank's own.
  void require_good_weights() {
    if (step_->is_finite()) return;
    throw diverged_error("the weights after step " + std::to_string(done_) + " are not finite numbers" +
                         step_->first_not_finite());
  }

  RankFigures own_figures() {
    RankFigures figures = rank_memory();
    figures.bad_images = static_cast<double>(bad_images_);
    fill_gpu_memory(figures, device_memory(step_->network(), evaluation_.get()));
    times_.fill(figures);
    return figures;
  }

  void write_interval() {
    const Report report = step_->strategy().report(own_figures());
    times_.restart();
    if (!leader() || interval_.steps == 0) return;
    log_->interval(done_, interval_, report, step_->loss_scaler());
    interval_.restart();
  }

  /// Rank 0 copies what is to be kept, and writes it while training goes on. Where the one before
  /// is still being written, all ranks wait for it.
  void checkpoint() {
    if (done_ == plan_.start_step || !leader()) return;
    const Stopwatch clock;
    heartbeat_->beat(done_, "checkpoint");
    settle_checkpoint();
    const auto state = checkpoint_state(options_, plan_, done_, step_->loss_scaler());
    writer_.begin(snapshot(step_->network(), step_->strategy().state(), averages(), state), clock);
    if (!evaluation_) look_for_gain();  // else after the evaluation, which follows
    interval_.leave_out(clock.milliseconds());
  }

  /// Of an update of the average; the one after is a copy too, as torchvision has it.
  bool in_warmup(int64_t step) const { return plan_.schedule.warmup_steps > 0 && step <= plan_.schedule.warmup_steps; }

  /// Rank 0's, once there are any.
  std::optional<Averages> averages() {
    return average_ && average_->begun() ? std::optional(average_->fetch()) : std::nullopt;
  }

  /// By the ranks, where that was asked for; while the checkpoint is written.
  Judged evaluate() {
    if (!evaluation_) return Judged::no;
    const Stopwatch clock;
    const Noted noted(RankWork::evaluates);
    judging_ = true;
    const Judged judged = evaluation_->run({.network = step_->network(),
                                            .device = step_->device(),
                                            .averages = averages(),
                                            .step = done_,
                                            .beat = [this] { heartbeat_->beat(done_, "evaluating"); },
                                            .cancelled = [this] { return signals_.requested(); }});
    judging_ = false;
    if (judged == Judged::yes && leader()) look_for_gain();
    interval_.leave_out(clock.milliseconds());
    return judged;
  }

  /// Whether the ranks are to evaluate the checkpoint that the run goes on from: the run ended
  /// before its evaluation. Not one of between, which a run that is left alone does not have.
  bool resumed_unevaluated() {
    if (!evaluation_) return false;
    const bool due = done_ % plan_.checkpoint_every == 0 || done_ == plan_.total_steps;
    const bool lacks =
        leader() && due && plan_.resume_from && !is_evaluated(options_.run_dir, options_.eval_data, done_);
    const double mine = lacks ? 1 : 0;
    return workers_.gather(std::span(&mine, 1)).front() > 0;
  }

  void look_for_gain() {
    if (options_.early_stop == 0) return;
    nothing_to_gain_ = evaluations_since_best(options_.run_dir, options_.eval_data) >= options_.early_stop;
  }

  /// Waits until no checkpoint is being written.
  void settle_checkpoint() {
    if (!leader()) return;
    const IoBeat alive([this] { heartbeat_->beat(done_, "checkpoint"); });
    const std::optional<CheckpointOutcome> outcome = writer_.settle();
    if (!outcome) return;
    if (!outcome->path.empty()) last_checkpoint_ = outcome->path;
    checkpoint_error_ = outcome->error;
    checkpoint_retry_ = outcome->retry;
  }

  void finish(Exit exit) {
    heartbeat_->beat(done_, "stopping");
    if (!leader()) return;
    log_->end(done_, now_seconds() - started_, exit == Exit::stopped);
    const auto alive = [this] { heartbeat_->beat(done_, "stopping"); };
    if (evaluation_) evaluation_->finish(alive);
    log_->finish(alive);
    if (checkpoint_error_.empty()) return;
    throw Error(Exit::data,
                "the last checkpoint (step " + std::to_string(done_) + ") could not be written: " + checkpoint_error_ +
                    ". Free some space and start again with --resume auto",
                checkpoint_retry_);
  }

  void bad_image(const std::string& path, const std::string& message) {
    ++bad_images_;
    std::fprintf(stderr, "trainer: warning: %s: %s (bad image %lld of at most %lld)\n", path.c_str(), message.c_str(),
                 static_cast<long long>(bad_images_), static_cast<long long>(options_.max_bad_images));
    if (log_) log_->bad_image(done_, path, message, bad_images_);
  }

  const TrainOptions& options_;
  const Team& team_;
  Communicator& workers_;
  const StopSignals& signals_;
  StopFile stop_file_;
  std::unique_ptr<TimedPlans> plans_;  ///< with --tune
  TrainPlan plan_;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<Loader> loader_;
  std::unique_ptr<BatchFeed> feed_;
  /// With --eval-on ranks. Ends after step_: freeing its GPU memory waits for all work on the GPU,
  /// and only step_ ends sums that lost ranks never join.
  std::unique_ptr<RankEvaluation> evaluation_;
  std::unique_ptr<TrainingStep> step_;
  std::optional<WeightAverage> average_;  ///< with --ema; rank 0 only
  std::unique_ptr<TrainLog> log_;         ///< rank 0 only
  Interval interval_;
  StepTimes times_;                          ///< of this rank's steps in the interval
  std::vector<std::string> made_new_;        ///< tensors that --init-weights did not give
  std::vector<CheckpointInfo> passed_over_;  ///< at the start; rank 0 only
  std::string last_checkpoint_;              ///< the newest that was written or resumed from; rank 0 only
  bool nothing_to_gain_ = false;             ///< --early-stop has been reached
  std::string checkpoint_error_;             ///< of the newest attempt; empty after a success
  Retry checkpoint_retry_ = Retry::pointless;
  int64_t done_ = 0;
  int64_t bad_images_ = 0;
  bool device_sums_ = false;
  bool judging_ = false;  ///< the network may hold another model: its average, for an evaluation
  double started_ = 0;
  /// Rank 0 only. The last member, so that it ends before what it uses.
  CheckpointWriter writer_ = CheckpointWriter([this](const CheckpointContents& contents, double held_ms) {
    return write_checkpoint(options_, *log_, contents, held_ms);
  });
};

}  // namespace

Exit train(const TrainOptions& options, Communicator& communicator, const StopSignals& signals) {
  check_options(options);
  show_note();
  use_threads(threads_for_rank(options.threads, communicator));
  const Team team(options.strategy, communicator);
  if (team.serves()) return serve(options, team);
  return TrainRun(options, team, signals).run();
}

}  // namespace trainyard
