#include "trainer/train/evaluate/rank_evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "common/checkpoint/checkpoint_folders.h"
#include "common/stopwatch.h"
#include "trainer/ops/cuda_library.h"
#include "trainer/train/evaluate/evaluation_log.h"
#include "trainer/train/plan/same_data.h"
#include "trainer/train/process/gpu_memory.h"

namespace trainyard {
namespace {

void say_unevaluated(int64_t step, const std::string& reason) {
  std::fprintf(stderr, "trainer: warning: step %lld is not evaluated, and training goes on: %s\n",
               static_cast<long long>(step), reason.c_str());
}

/// Rank 0's model in every rank's network, for a while. Where the model is there already, this does
/// nothing.
class ModelOfFirst {
 public:
  ModelOfFirst(const RankPass& pass, Communicator& workers) : network_(pass.network) {
    const double mine = pass.averages ? 1 : 0;
    const bool averaged = workers.gather(std::span(&mine, 1)).front() > 0;
    const std::span<float> weights = network_.weights();
    const std::span<float> statistics = network_.running_statistics();
    if (!averaged && (workers.world() == 1 || statistics.empty())) return;
    // What follows writes the host's weights and statistics to the device.
    if (pass.device != nullptr) pass.device->fetch();
    statistics_.assign(statistics.begin(), statistics.end());
    if (averaged) weights_.assign(weights.begin(), weights.end());
    // Rank 0's network stays as it is until all have been sent.
    if (averaged) workers.broadcast(pass.averages ? pass.averages->weights : weights, 0);
    workers.broadcast(pass.averages ? pass.averages->statistics : statistics, 0);
    if (pass.averages) {
      std::ranges::copy(pass.averages->weights, weights.begin());
      std::ranges::copy(pass.averages->statistics, statistics.begin());
    }
    network_.weights_changed();
  }

  void give_back() {
    if (weights_.empty() && statistics_.empty()) return;
    std::ranges::copy(weights_, network_.weights().begin());
    std::ranges::copy(statistics_, network_.running_statistics().begin());
    network_.weights_changed();
  }

 private:
  Network& network_;
  /// This rank's own; empty where they stay in the network.
  std::vector<float> weights_, statistics_;
};

/// Rank 0's model in every rank's network `to`, which is not the one that trains.
void copy_model_of_first(const RankPass& pass, Communicator& workers, Network& to) {
  const double mine = pass.averages ? 1 : 0;
  const bool averaged = workers.gather(std::span(&mine, 1)).front() > 0;
  if (pass.device != nullptr && !averaged) pass.device->fetch();
  const Averages own{pass.network.weights(), pass.network.running_statistics()};
  const Averages& model = pass.averages ? *pass.averages : own;
  std::ranges::copy(model.weights, to.weights().begin());
  std::ranges::copy(model.statistics, to.running_statistics().begin());
  if (averaged) workers.broadcast(to.weights(), 0);
  workers.broadcast(to.running_statistics(), 0);
  to.weights_changed();
}

/// For inference alone. Judges one blank image, so that the memory for a batch is taken at once.
std::unique_ptr<Network> make_own_network(const TrainOptions& options, const TrainPlan& plan,
                                          const Communicator& workers) {
  NetworkOptions wanted;
  wanted.model = options.model;
  wanted.classes = plan.classes;
  wanted.image_size = plan.eval_image_size;
  wanted.batch = plan.batch;
  wanted.training = false;
  wanted.precision = parse_precision(options.precision);
  wanted.device = options.device;
  wanted.device_index = own_cuda_device(workers.local_rank());
  wanted.host_ranks = workers.local_world();
  auto network = make_network(wanted);
  const auto side = static_cast<size_t>(plan.eval_image_size);
  const std::vector<uint8_t> blank(side * side * 3);
  std::vector<float> logits(static_cast<size_t>(plan.classes));
  network->evaluate({.count = 1, .image_size = plan.eval_image_size, .images = blank.data()}, logits);
  return network;
}

}  // namespace

RankEvaluation::RankEvaluation(const TrainOptions& options, const TrainPlan& plan, int decoders, Communicator& workers)
    : data_(options.eval_data),
      image_size_(plan.eval_image_size),
      resize_(plan.eval_resize),
      batch_size_(plan.batch),
      decoders_(decoders),
      workers_(workers) {
  const CheckpointModel model{.model = options.model,
                              .classes = plan.classes,
                              .image_size = plan.eval_image_size,
                              .resize = plan.eval_resize,
                              .step = 0,
                              .class_names = plan.class_names,
                              .label_offset = options.label_offset.value_or(0)};
  dataset_ = open_for_evaluation(data_, std::nullopt, model, workers_.rank() == 0);
  require_same_data(*dataset_, data_, workers_);
  require_same_classes(model, *dataset_, data_);
  if (plan.eval_image_size != plan.image_size) network_ = make_own_network(options, plan, workers_);
  if (workers_.rank() == 0) log_.emplace(options.run_dir, "eval");
}

EvalSums RankEvaluation::judge_own(const RankPass& pass, Network& network, bool& failed) const {
  EvalPass own{.image_size = image_size_,
               .resize = resize_,
               .batch_size = batch_size_,
               .rank = workers_.rank(),
               .world = workers_.world(),
               .threads = decoders_};
  own.sink = [&](const Batch& /*batch*/, std::span<const float> /*logits*/) { pass.beat(); };
  own.cancelled = pass.cancelled;
  try {
    return judge(network, *dataset_, own);
  } catch (const Error& error) {
    if (error.code() != Exit::data) throw;
    say_unevaluated(pass.step, error.what());
    failed = true;
    return {};
  }
}

EvalSums RankEvaluation::judge_in_place(const RankPass& pass, bool& failed) const {
  ModelOfFirst model(pass, workers_);
  const EvalSums sums = judge_own(pass, pass.network, failed);
  model.give_back();
  return sums;
}

EvalSums RankEvaluation::judge_elsewhere(const RankPass& pass, bool& failed) const {
  copy_model_of_first(pass, workers_, *network_);
  return judge_own(pass, *network_, failed);
}

Judged RankEvaluation::run(const RankPass& pass) {
  const Stopwatch clock;
  bool failed = false;
  const EvalSums own = network_ ? judge_elsewhere(pass, failed) : judge_in_place(pass, failed);
  std::array<double, 7> all{own.loss,
                            static_cast<double>(own.top1),
                            static_cast<double>(own.top5),
                            static_cast<double>(own.images),
                            static_cast<double>(own.bad_images),
                            failed ? 1.0 : 0.0,
                            pass.cancelled && pass.cancelled() ? 1.0 : 0.0};
  workers_.sum(std::span<double>(all));
  const auto& [loss, top1, top5, images, bad_images, failures, cancelled] = all;
  if (cancelled > 0) return Judged::cancelled;
  if (failures > 0) return Judged::no;
  if (images == 0) {
    if (log_) say_unevaluated(pass.step, "no image of " + data_ + " could be read");
    return Judged::no;
  }
  if (!log_) return Judged::yes;
  const EvalSums sums{loss, std::llround(top1), std::llround(top5), std::llround(images), std::llround(bad_images)};
  log_evaluation(*log_, {.step = pass.step,
                         .checkpoint = step_name(pass.step),
                         .data = data_,
                         .scores = sums.scores(),
                         .seconds = clock.milliseconds() / 1000});
  return Judged::yes;
}

std::optional<MemoryFigures> RankEvaluation::device_memory() const {
  return network_ ? network_->device_memory() : std::nullopt;
}

void RankEvaluation::finish(const std::function<void()>& alive) {
  if (log_) log_->finish(kLastLinesSeconds, alive);
}

std::optional<MemoryFigures> device_memory(Network& trains, const RankEvaluation* evaluation) {
  return memory_of_both(trains.device_memory(), evaluation != nullptr ? evaluation->device_memory() : std::nullopt);
}

}  // namespace trainyard
