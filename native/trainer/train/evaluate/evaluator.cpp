#include "trainer/train/evaluate/evaluator.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/train/evaluate/evaluate.h"
#include "trainer/train/evaluate/evaluation_log.h"
#include "trainer/train/log/metrics_log.h"
#include "trainer/train/process/heartbeat.h"
#include "trainer/train/process/interval.h"
#include "trainer/train/process/use_threads.h"
#include "trainer/train/weights/snapshot.h"

namespace trainyard {
namespace {

class Evaluator {
 public:
  Evaluator(const EvalOptions& options, const StopSignals& signals) : options_(options), signals_(signals) {}

  void once() {
    std::string checkpoint = options_.checkpoint;
    if (checkpoint.empty()) {
      const auto newest = newest_valid_checkpoint(options_.run_dir);
      if (!newest) {
        throw Error(Exit::data, "no valid checkpoint in " + options_.run_dir +
                                    "/checkpoints. Train first, or name one with --checkpoint");
      }
      checkpoint = newest->path;
    }
    evaluate_checkpoint(checkpoint);
    finish();
  }

  void beside_training() {
    heartbeat_ = std::make_unique<Heartbeat>(options_.run_dir, "eval");
    sleep(options_.delay);
    while (!signals_.requested()) {
      look();
      sleep(options_.interval);
    }
    look();
    finish();
  }

 private:
  void finish() {
    if (log_) log_->finish(kLastLinesSeconds, [] {});
  }

  /// Sleeps, but ends soon after a signal.
  void sleep(double seconds) const {
    const Stopwatch clock;
    while (!signals_.requested() && clock.milliseconds() < 1000 * seconds) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  void look() {
    if (log_) log_->flush();
    const auto newest = find_newest_checkpoint(options_.run_dir, evaluated_).valid;
    if (!newest) return;
    try {
      evaluate_checkpoint(newest->path);
    } catch (const Error& error) {
      // Training may have removed it by its keeping rule while it was being read; a newer one then
      // exists.
      if (std::filesystem::exists(newest->path)) throw;
      std::fprintf(stderr, "trainer: warning: %s went away while it was evaluated: %s\n", newest->path.c_str(),
                   error.what());
      return;
    }
    evaluated_ = newest->step;
  }

  void evaluate_checkpoint(const std::string& path) {
    const Stopwatch clock;
    const CheckpointModel model = read_checkpoint_model(path);
    // A run may go on with another --eval-image-size.
    if (std::exchange(image_size_, model.image_size) != model.image_size) {
      dataset_.reset();
      network_.reset();
    }
    if (!dataset_) {
      dataset_ = open_for_evaluation(options_.data, options_.label_offset, model);
      require_same_classes(model, *dataset_, options_.data);
    }
    if (network_) {
      load_weights(path, *network_);
    } else {
      network_ = load_network(path, model, options_.batch_size, options_.device, parse_precision(options_.precision));
    }
    int64_t judged = 0;
    const auto beat = [&](const Batch& batch, std::span<const float>) {
      judged += batch.count;
      if (heartbeat_) heartbeat_->beat(judged, "evaluating");
    };
    const EvalScores scores = evaluate(*network_, *dataset_, model, options_.batch_size, beat);
    if (!log_) log_ = std::make_unique<MetricsLog>(options_.run_dir, "eval");
    const std::string name = std::filesystem::path(path).filename().string();
    log_evaluation(*log_, {.step = model.step,
                           .checkpoint = name,
                           .data = options_.data,
                           .scores = scores,
                           .seconds = clock.milliseconds() / 1000,
                           .once = options_.once});
    std::printf("%s  top-1 %.4f  top-5 %.4f  loss %.4f  %lld images\n", name.c_str(), scores.top1, scores.top5,
                scores.loss, static_cast<long long>(scores.images));
    std::fflush(stdout);
  }

  const EvalOptions& options_;
  const StopSignals& signals_;
  int image_size_ = 0;  ///< of dataset and network
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<MetricsLog> log_;
  std::unique_ptr<Heartbeat> heartbeat_;  ///< beside a training alone, whose supervisor waits while it beats
  std::optional<int64_t> evaluated_;
};

}  // namespace

Exit run_evaluator(const EvalOptions& options, const StopSignals& signals) {
  use_threads(options.threads);
  if (options.once) {
    Evaluator(options, signals).once();
  } else {
    Evaluator(options, signals).beside_training();
  }
  return Exit::ok;
}

}  // namespace trainyard
