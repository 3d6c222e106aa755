#include "trainer/layers/graph.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

size_t append(std::vector<Parameter>& list, Parameter added) {
  added.size = 1;
  for (const int64_t extent : added.shape) added.size *= static_cast<size_t>(extent);
  added.offset = list.empty() ? 0 : list.back().offset + list.back().size;
  list.push_back(std::move(added));
  return list.back().offset;
}

size_t elements(const std::vector<Parameter>& list) { return list.empty() ? 0 : list.back().offset + list.back().size; }

}  // namespace

size_t Graph::add_parameter(Parameter parameter) { return append(parameters_, std::move(parameter)); }

size_t Graph::add_statistic(Parameter statistic) { return append(statistics_, std::move(statistic)); }

ValueId Graph::add(std::unique_ptr<Layer> layer) {
  layer->output = value_count();
  layer->parameters_begin = layers_.empty() ? 0 : layers_.back()->parameters_end;
  layer->parameters_end = parameter_elements();
  layers_.push_back(std::move(layer));
  return layers_.back()->output;
}

size_t Graph::parameter_elements() const { return elements(parameters_); }

size_t Graph::statistic_elements() const { return elements(statistics_); }

std::vector<bool> Graph::leads_to_last() const {
  std::vector<bool> leads(layers_.size(), false);
  if (!leads.empty()) leads.back() = true;
  for (size_t i = layers_.size(); i-- > 0;) {
    if (!leads[i]) continue;
    for (const ValueId value : layers_[i]->inputs()) leads[static_cast<size_t>(value)] = true;
  }
  return leads;
}

const Layer* Graph::first_consumer(ValueId value) const {
  const auto found = std::find_if(layers_.begin(), layers_.end(), [value](const auto& layer) {
    const auto& inputs = layer->inputs();
    return std::find(inputs.begin(), inputs.end(), value) != inputs.end();
  });
  return found == layers_.end() ? nullptr : found->get();
}

bool Graph::is_read_once(ValueId value) const {
  ptrdiff_t readers = 0;
  for (const auto& layer : layers_) readers += std::ranges::count(layer->inputs(), value);
  return readers == 1;
}

}  // namespace trainyard
