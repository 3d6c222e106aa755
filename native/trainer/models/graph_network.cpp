#include "trainer/models/graph_network.h"

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "trainer/base/spare_memory.h"
#include "trainer/models/initialise.h"
#include "trainer/models/memory/batch_fit.h"

namespace trainyard {

namespace {

std::vector<TensorInfo> infos(const std::vector<Parameter>& parameters) {
  std::vector<TensorInfo> list;
  list.reserve(parameters.size());
  for (const Parameter& p : parameters) list.push_back({p.name, p.shape, p.offset, p.size, p.decay});
  return list;
}

std::vector<TensorInfo> parameters_of(const Graph& graph) {
  std::vector<TensorInfo> list = infos(graph.parameters());
  const auto mark = [&](ValueId logits) {
    const Layer& layer = graph.producer(logits);
    for (TensorInfo& info : list) {
      if (info.offset >= layer.parameters_begin && info.offset < layer.parameters_end) info.head = true;
    }
  };
  mark(graph.value_count() - 1);
  for (const Auxiliary& head : graph.auxiliaries()) mark(head.logits);
  return list;
}

StepResult result_of(const LossResult& loss) { return {loss.loss_sum, loss.top1, loss.top5}; }

/// Between two sums of statistics a step has ten launches at most, and a device keeps about a
/// thousand.
constexpr size_t kSumsBetweenWaits = 32;

}  // namespace

GraphNetwork::GraphNetwork(const NetworkOptions& options, std::unique_ptr<Graph> graph,
                           std::unique_ptr<Backend> backend)
    : options_(options),
      graph_(std::move(graph)),
      backend_(std::move(backend)),
      parameters_(parameters_of(*graph_)),
      statistics_(infos(graph_->statistics())),
      weights_(*backend_, graph_->parameter_elements()),
      running_(*backend_, graph_->statistic_elements()),
      first_image_(backend_->allocate(sizeof(uint64_t))) {
  if (options.training) {
    require_elements(training_purpose());
    // Before the weights are drawn: what its ops make on threads of their own is then ready sooner,
    // and does not lock the address space while the large memory is taken.
    training_ = std::make_unique<Program>(*graph_, *backend_, training_purpose());
    for (size_t i = 0; i <= graph_->auxiliaries().size(); ++i) {
      losses_.push_back(backend_->make_softmax_cross_entropy(options.classes));
    }
    if (options.evaluates) make_inference();
  }
  weights_.populate();
  initialise(graph_->parameters(), options.seed, weights());
  initialise(graph_->statistics(), options.seed, running_statistics());
  weights_.to_device();
  running_.to_device();
  if (options.training) {
    // As bf16 they are summed elsewhere.
    gradients_.emplace(*backend_, graph_->parameter_elements(), options.device_sums && !options.narrow_sums);
    if (options.record_steps && !backend_->host_memory()) replay_.emplace(*backend_);
    if (options.memory_growth) return;
    bind(*training_, training_purpose());
    if (inference_) bind(*inference_, inference_purpose());
  }
}

Purpose GraphNetwork::training_purpose() const {
  return {.batch = options_.batch,
          .training = true,
          .storage = storage_of(options_.precision),
          .dropout = options_.dropout,
          .seed = options_.seed,
          .keeps_batch = options_.keeps_batch};
}

Purpose GraphNetwork::inference_purpose() const {
  return {.batch = options_.batch, .training = false, .storage = storage_of(options_.precision)};
}

void GraphNetwork::make_inference() {
  require_elements(inference_purpose());
  inference_ = std::make_unique<Program>(*graph_, *backend_, inference_purpose());
}

std::span<float> GraphNetwork::gradients() {
  if (!gradients_) return {};
  return gradients_->host();
}

std::vector<GraphNode> GraphNetwork::graph() const {
  const auto path = [](const Layer& layer) {
    std::string name = layer.name();
    std::replace(name.begin(), name.end(), '.', '/');
    return name;
  };
  std::vector<GraphNode> nodes;
  for (const auto& layer : graph_->layers()) {
    GraphNode node;
    node.name = path(*layer);
    node.op = layer->op();
    for (const ValueId value : layer->inputs()) node.inputs.push_back(path(graph_->producer(value)));
    const Shape shape = layer->output_shape();
    node.output_shape = {-1, shape.c};
    if (shape.h != 1 || shape.w != 1) node.output_shape.insert(node.output_shape.end(), {shape.h, shape.w});
    nodes.push_back(std::move(node));
  }
  return nodes;
}

void GraphNetwork::weights_changed() {
  weights_.to_device();
  running_.to_device();
  if (training_) training_->weights_changed();
  if (inference_) inference_->weights_changed();
}

std::optional<MemoryLimit> GraphNetwork::memory_limit(const Purpose& purpose) {
  // An optimizer's memory comes before the first step, up to two numbers a weight, and so does what
  // gradients travel in as bf16. What micro-batches are added up in comes with that step, averages
  // of weights come later, and gradients before all of them.
  const bool optimizer_is_there = options_.memory_growth && gradients_;
  const size_t arenas = (optimizer_is_there ? 0 : 2) + (options_.micro_batches ? 1 : 0) + (options_.averages ? 1 : 0) +
                        (gradients_ ? 0 : 1);
  const size_t narrow = optimizer_is_there || !options_.narrow_sums ? 0 : weights_.bytes() / 2;
  const size_t to_come = purpose.training ? arenas * weights_.bytes() + narrow : 0;
  if (const auto memory = backend_->memory_figures()) return device_memory_limit(*memory, to_come);
  if (!backend_->host_memory()) return std::nullopt;
  // Gradients are asked for, but the system gives a page when it is first written.
  const uint64_t free = options_.free_memory ? options_.free_memory() : free_memory();
  return host_memory_limit(free, options_.host_ranks, to_come + (gradients_ ? gradients_->bytes() : 0));
}

void GraphNetwork::require_elements(const Purpose& purpose) {
  const int most = batch_of_elements(*graph_, backend_->most_elements());
  if (purpose.batch <= most) return;
  const auto limit = memory_limit(purpose);
  const int fits = limit ? largest_batch(*graph_, *backend_, purpose, limit->bytes, most) : most;
  throw too_many_elements(*graph_, backend_->most_elements(), purpose.batch, fits);
}

void GraphNetwork::require_memory(size_t bytes, const Purpose& purpose) {
  const auto found = memory_limit(purpose);
  if (!found || bytes <= found->bytes) return;
  // A program's ops have memory of their own, which is taken already where the batch is this one.
  const size_t own = program_bytes(*graph_, *backend_, purpose).value_or(bytes) - bytes;
  // The next start may find a little less: kernels that are loaded by then take memory too.
  const size_t sure = found->bytes - found->bytes / 256;
  const int fits = largest_batch(*graph_, *backend_, purpose, sure + own, purpose.batch - 1);
  throw out_of_memory(*found, purpose.batch, bytes, fits);
}

void GraphNetwork::bind(Program& program, const Purpose& purpose) {
  if (!activations_ || activations_->bytes() < program.arena_bytes()) {
    activations_.reset();
    require_memory(program.arena_bytes(), purpose);
    activations_ = backend_->allocate(program.arena_bytes());
    if (replay_) replay_->forget();
    activations_->populate();
    if (purpose.training) gradients_->populate();
    if (training_ && training_->bound()) training_->bind(activations_->data());
    if (inference_ && inference_->bound()) inference_->bind(activations_->data());
  }
  program.bind(activations_->data());
}

void GraphNetwork::check(const BatchView& batch) const {
  if (batch.image_size != options_.image_size) {
    throw Error(Exit::data, "The images are " + std::to_string(batch.image_size) +
                                " pixels wide, but the model takes " + std::to_string(options_.image_size) +
                                ". Give both the same --image-size.");
  }
  if (batch.count < 1 || batch.count > options_.batch) {
    throw Error(Exit::internal, "A batch of " + std::to_string(batch.count) + " images was given to a model made for " +
                                    std::to_string(options_.batch) + ". Report it.");
  }
}

Run GraphNetwork::run_for(const BatchView& batch) {
  Run run;
  run.images = batch.images;
  run.count = batch.count;
  run.first_image = reinterpret_cast<const uint64_t*>(first_image_->data());
  run.weights = weights_.device();
  run.gradients = gradients_ ? gradients_->device() : nullptr;
  run.statistics = running_.device();
  if (options_.sync_batch_norm != nullptr) {
    run.sum = [this](double* values, size_t count) { sum_over_ranks(values, count); };
  }
  return run;
}

bool GraphNetwork::stops_for_statistics() const {
  return options_.sync_batch_norm != nullptr && !(optimizer_ && optimizer_->in_group());
}

void GraphNetwork::sum_over_ranks(double* values, size_t count) {
  if (backend_->host_memory()) return options_.sync_batch_norm->sum(values, count);
  if (!stops_for_statistics()) {
    // As in start_step(): no launch may wait behind a sum that others never join.
    const bool launched = !replay_ || !replay_->recording();
    if (launched && ++statistic_sums_ % kSumsBetweenWaits == 0) backend_->synchronize();
    return optimizer_->sum(values, count);
  }
  statistics_copy_.resize(count);
  backend_->to_host(statistics_copy_.data(), values, count * sizeof(double));
  options_.sync_batch_norm->sum(statistics_copy_.data(), count);
  backend_->from_host(values, statistics_copy_.data(), count * sizeof(double));
}

void GraphNetwork::forward(const Run& run, float loss_scale) {
  training_->forward(run);
  losses_[0]->run(training_->logits(), training_->logits_gradient(), loss_scale, options_.label_smoothing);
  for (size_t i = 1; const Program::Head& head : training_->auxiliary_heads()) {
    losses_[i++]->run(head.logits, head.gradient, loss_scale * head.weight, options_.label_smoothing);
  }
}

bool GraphNetwork::is_recorded() const {
  return replay_ && replay_->graphs() == 1 + training_->backward_parts().size();
}

void GraphNetwork::keep_batch() {
  if (!batch_there_ || !options_.keeps_batch) {
    throw Error(Exit::internal, "A batch was to be kept before a training step, or without asking. Report it.");
  }
  batch_kept_ = true;
}

void GraphNetwork::take(const BatchView& batch, const Run& run) {
  backend_->send(first_image_->data(), &batch.first_image, sizeof(batch.first_image));
  if (batch_kept_) return;
  training_->take_images(run);
  for (const auto& loss : losses_) loss->take_labels({batch.labels, batch.count, batch.other_labels, batch.share});
  batch_there_ = true;
}

void GraphNetwork::start_step(const BatchView& batch, float loss_scale,
                              const std::function<void(size_t, size_t)>& ready) {
  const auto tell = [&](size_t begin, size_t end) {
    if (!optimizer_) gradients_->to_host(begin, end);
    if (ready) ready(begin, end);
  };
  const bool recorded = replay_ && !stops_for_statistics();
  // Mixtures have other kernels.
  const bool mixed = batch.other_labels != nullptr;
  if (recorded && mixed != std::exchange(mixed_, mixed)) replay_->forget();
  if (recorded) replay_->begin(loss_scale);
  // A device keeps about a thousand ops that it has not begun, and a launch then waits for one to
  // end, without a deadline. Behind sums that other ranks never join that would be for ever, so ops
  // that are not recorded begin where no sum is left.
  if (optimizer_ && optimizer_->in_group() && !is_recorded()) backend_->synchronize();
  const Run run = run_for(batch);
  take(batch, run);
  if (!recorded) {
    forward(run, loss_scale);
    training_->backward(run, tell);
    return;
  }
  replay_->run(0, [&] { forward(run, loss_scale); });
  for (size_t part = 1; const Program::Part& gradients : training_->backward_parts()) {
    replay_->run(part++, [&] { training_->backward_part(gradients, run); });
    tell(gradients.begin, gradients.end);
  }
}

StepResult GraphNetwork::train_step(const BatchView& batch, float loss_scale,
                                    const std::function<void(size_t, size_t)>& ready,
                                    const std::function<void()>& meanwhile) {
  check(batch);
  if (!training_ || batch.count != options_.batch) {
    throw Error(Exit::internal, "A training step needs a model made for training and a full batch of " +
                                    std::to_string(options_.batch) + " images. Report it.");
  }
  if (!training_->bound()) bind(*training_, training_purpose());
  start_step(batch, loss_scale, ready);
  if (meanwhile && !backend_->host_memory()) meanwhile();
  // Where training stays on the device, fetch() brings them when somebody looks.
  if (!optimizer_) running_.to_host();
  if (inference_) inference_->weights_changed();
  StepResult result = result_of(losses_[0]->result());
  for (size_t i = 0; const Auxiliary& head : graph_->auxiliaries()) {
    result.loss_sum += double{head.weight} * losses_[++i]->result().loss_sum;
  }
  return result;
}

void GraphNetwork::prefetch(const BatchView& batch) {
  if (backend_->host_memory() || !training_ || batch_kept_) return;
  check(batch);
  training_->prefetch(batch.images, batch.count);
}

std::vector<ParameterRange> GraphNetwork::statistic_ranges() const {
  std::vector<ParameterRange> ranges;
  for (const TensorInfo& info : statistics_) ranges.push_back({.offset = info.offset, .size = info.size});
  return ranges;
}

DeviceOptimizer* GraphNetwork::train_on_device(const OptimizerOptions& options,
                                               const std::vector<ParameterRange>& ranges,
                                               const std::vector<std::string>& suffixes) {
  if (backend_->host_memory() || !gradients_) return nullptr;
  TrainedParts parts{weights_, *gradients_, running_, backend_->make_update({options, ranges}), nullptr};
  if (!parts.update) return nullptr;
  // Never run as an update: only its sums are asked for.
  if (!statistics_.empty()) parts.statistic_sums = backend_->make_update({{}, statistic_ranges()});
  optimizer_ = std::make_unique<NetworkOptimizer>(std::move(parts), *backend_, suffixes, [this] {
    training_->weights_changed();
    if (inference_) inference_->weights_changed();
  });
  return optimizer_.get();
}

StepResult GraphNetwork::evaluate(const BatchView& batch, std::span<float> logits) {
  check(batch);
  const size_t wanted = static_cast<size_t>(batch.count) * options_.classes;
  if (logits.size() < wanted) {
    throw Error(Exit::internal, "No buffer for " + std::to_string(wanted) + " logits. Report it.");
  }
  if (!inference_) make_inference();
  if (!inference_->bound()) bind(*inference_, inference_purpose());
  // In the memory of training's activations.
  batch_there_ = batch_kept_ = false;
  const Run run = run_for(batch);
  inference_->take_images(run);
  inference_->forward(run);
  backend_->to_host(logits.data(), inference_->logits(), wanted * sizeof(float));
  if (batch.labels == nullptr) return {};
  if (!evaluation_loss_) evaluation_loss_ = backend_->make_softmax_cross_entropy(options_.classes);
  evaluation_loss_->take_labels({batch.labels, batch.count});
  evaluation_loss_->run(inference_->logits(), nullptr, 1.0F, 0.0F);
  return result_of(evaluation_loss_->result());
}

size_t GraphNetwork::memory_to_come() const { return !training_ || training_->bound() ? 0 : training_->arena_bytes(); }

size_t GraphNetwork::memory_bytes() const {
  size_t total = weights_.bytes() + running_.bytes();
  if (gradients_) total += gradients_->bytes();
  if (optimizer_) total += optimizer_->bytes();
  if (activations_) total += activations_->bytes();
  if (training_) total += training_->persistent_bytes();
  if (inference_) total += inference_->persistent_bytes();
  return total;
}

}  // namespace trainyard
