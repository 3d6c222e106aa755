#include "trainer/layers/program.h"

#include <deque>
#include <utility>

#include "common/error.h"

namespace trainyard {

namespace {

/// Gradients of a part at least: 16 MiB, so that sums over the ranks begin early and parts stay
/// few.
constexpr size_t kPartElements = size_t{4} << 20U;

}  // namespace

Program::Program(const Graph& graph, Backend& backend, const Purpose& purpose)
    : graph_(graph), backend_(backend), purpose_(purpose) {
  Planner planner(backend, graph.value_count());
  const std::vector<bool> leads = graph.leads_to_last();
  for (const auto& layer : graph.layers()) {
    if (!purpose.training && !leads[static_cast<size_t>(layer->output)]) {
      stages_.emplace_back();
      continue;
    }
    bool wanted = layer->parameters_end > layer->parameters_begin;
    for (const ValueId value : layer->inputs()) wanted = wanted || planner.wants_gradient(value);
    if (wanted) planner.set_wants_gradient(layer->output);
    stages_.push_back(layer->compile(graph, planner, backend, purpose));
  }
  plan(planner);

  size_t persistent = 0;
  const auto& sizes = planner.persistent_bytes();
  std::vector<size_t> starts;
  for (const size_t bytes : sizes) {
    starts.push_back(persistent);
    persistent += (bytes + MemoryPlan::kAlignment - 1) / MemoryPlan::kAlignment * MemoryPlan::kAlignment;
  }
  if (persistent > 0) {
    persistent_ = backend.allocate(persistent);
    for (const size_t start : starts) persistent_addresses_.push_back(persistent_->data() + start);
  }
  std::vector<PackedWeights> packs;
  for (auto [weights, slot] : planner.packs()) {
    weights.to = persistent_addresses_[static_cast<size_t>(slot.buffer)];
    packs.push_back(weights);
  }
  if (!packs.empty()) pack_ = backend.make_pack(packs);
}

void Program::plan(Planner& planner) {
  const int count = graph_.value_count();
  const ValueId last = count - 1;
  for (int i = 0; i < count; ++i) {
    planner.set_time(i);
    if (stages_[static_cast<size_t>(i)]) stages_[static_cast<size_t>(i)]->plan_forward(planner);
  }
  planner.set_time(count);
  logits_ = planner.activation(last);
  additions_.resize(stages_.size());
  if (purpose_.training) {
    logits_gradient_ = planner.keep(planner.desc(last).bytes());
    planner.give_gradient(last, logits_gradient_);
    for (const Auxiliary& head : graph_.auxiliaries()) {
      const Slot gradient = planner.keep(planner.desc(head.logits).bytes());
      auxiliaries_.push_back({planner.activation(head.logits), gradient, head.weight});
      planner.give_gradient(head.logits, gradient);
    }
    for (int i = last; i >= 0; --i) {
      if (!planner.wants_gradient(i)) continue;
      backward_.push_back(static_cast<size_t>(i));
      planner.set_time(2 * count - i);
      stages_[static_cast<size_t>(i)]->plan_backward(planner);
    }
    if (purpose_.keeps_batch) {
      planner.set_time(2 * count);
      planner.activation(0);
    }
    for (const auto& addition : planner.additions()) {
      additions_[static_cast<size_t>(2 * count - addition.time)].push_back(addition);
    }
    cut_backward();
  }
  MemoryPlan& memory = planner.plan();
  memory.solve();
  arena_bytes_ = memory.total();
  for (int buffer = 0; buffer < memory.count(); ++buffer) offsets_.push_back(memory.offset(buffer));
}

void Program::bind(std::byte* arena) {
  planned_.clear();
  for (const size_t offset : offsets_) planned_.push_back(arena + offset);
}

void Program::attach(Run& run) const {
  run.planned = planned_.data();
  run.persistent = persistent_addresses_.data();
  run.repack = !packed_;
}

void Program::take_images(Run run) {
  attach(run);
  stages_.front()->forward(run);
}

void Program::forward(Run run) {
  attach(run);
  if (pack_ && (purpose_.training || run.repack)) pack_->run(run.weights);
  for (size_t i = 1; i < stages_.size(); ++i) {
    if (stages_[i]) stages_[i]->forward(run);
  }
  packed_ = true;
}

std::vector<Program::Head> Program::auxiliary_heads() const {
  const auto at = [this](Slot slot) { return planned_[static_cast<size_t>(slot.buffer)]; };
  std::vector<Head> heads;
  for (const HeadSlots& head : auxiliaries_) heads.push_back({at(head.logits), at(head.gradient), head.weight});
  return heads;
}

void Program::backward(Run run, const std::function<void(size_t, size_t)>& ready) {
  attach(run);
  size_t begun = graph_.parameter_elements();
  size_t current = 0;
  run.gradients_final = [&] {
    const Layer& layer = *graph_.layers()[current];
    if (ready) ready(layer.parameters_begin, layer.parameters_end);
    begun = layer.parameters_begin;
  };
  // Gradients are ready behind all ops so far.
  run.beside = [](const std::function<void()>& ops) { ops(); };
  for (const size_t i : backward_) {
    current = i;
    backward_layer(i, run);
    if (begun != graph_.layers()[i]->parameters_begin) {
      throw Error(Exit::internal, graph_.layers()[i]->name() + " did not finish its gradients. Report it.");
    }
  }
}

void Program::backward_layer(size_t layer, const Run& run) {
  for (const auto& addition : additions_[layer]) addition.op->run(run.at(addition.to), run.at(addition.from));
  stages_[layer]->backward(run);
}

void Program::backward_part(const Part& part, Run run) {
  attach(run);
  run.gradients_final = [] {};
  std::deque<size_t> beside;  // layers whose ops may be under way still
  size_t current = 0;
  run.beside = [&](const std::function<void()>& ops) {
    backend_.run_beside(ops);
    beside.push_back(current);
  };
  for (size_t i = part.first; i < part.last; ++i) {
    current = backward_[i];
    while (!beside.empty() && beside.front() > current + kLayersBeside) beside.pop_front();
    backend_.join_beside(beside.size());
    backward_layer(current, run);
  }
  backend_.join_beside(0);
}

void Program::cut_backward() {
  size_t end = graph_.parameter_elements();
  size_t first = 0;
  for (size_t i = 0; i < backward_.size(); ++i) {
    const size_t begin = graph_.layers()[backward_[i]]->parameters_begin;
    const bool last = i + 1 == backward_.size();
    if (!last && end - begin < kPartElements) continue;
    parts_.push_back({first, i + 1, begin, end});
    first = i + 1;
    end = begin;
  }
}

}  // namespace trainyard
