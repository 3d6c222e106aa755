// A model as a list of layers in the order of the forward pass, with the parameters and statistics
// they need.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "trainer/layers/layer.h"
#include "trainer/layers/parameter.h"

namespace trainyard {

/// A classifier beside the trunk.
struct Auxiliary {
  ValueId logits = -1;
  float weight = 0;
};

class Graph {
 public:
  /// Reserves room in the parameter arena for the layer about to be added. Returns the offset.
  size_t add_parameter(Parameter parameter);
  /// The same for batch norm's running statistics.
  size_t add_statistic(Parameter statistic);
  /// Appends a layer, which owns every parameter reserved since the last one. Returns its output.
  ValueId add(std::unique_ptr<Layer> layer);

  /// Makes a value logits of their own, whose loss counts `weight` beside the last layer's in
  /// training.
  void add_auxiliary(ValueId logits, float weight) { auxiliaries_.push_back({logits, weight}); }

  const std::vector<std::unique_ptr<Layer>>& layers() const { return layers_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<Parameter>& statistics() const { return statistics_; }
  const std::vector<Auxiliary>& auxiliaries() const { return auxiliaries_; }
  size_t parameter_elements() const;
  size_t statistic_elements() const;
  int value_count() const { return static_cast<int>(layers_.size()); }

  /// Of one image: n is 1.
  Shape shape(ValueId value) const { return producer(value).output_shape(); }
  const Layer& producer(ValueId value) const { return *layers_[static_cast<size_t>(value)]; }
  /// By value: whether the last layer's output comes of it.
  std::vector<bool> leads_to_last() const;
  /// The first layer that reads a value; nullptr if none does.
  const Layer* first_consumer(ValueId value) const;
  /// Whether one layer alone reads a value, as one of its inputs.
  bool is_read_once(ValueId value) const;

 private:
  std::vector<std::unique_ptr<Layer>> layers_;  // layer i produces value i
  std::vector<Parameter> parameters_;
  std::vector<Parameter> statistics_;
  std::vector<Auxiliary> auxiliaries_;
};

}  // namespace trainyard
