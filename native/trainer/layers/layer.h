// A layer describes; a stage computes. Layers make up a model's graph once; for each use of the
// model (training at some batch size, inference) they are compiled into stages, which own the back
// end's ops.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/ops/contract/backend.h"
#include "trainer/tensor/shape.h"

namespace trainyard {

class Graph;
class Planner;
struct Normalisation;

/// An activation of the graph, by its number.
using ValueId = int;

/// A buffer of a program, planned (reused as soon as nobody needs it) or persistent.
struct Slot {
  int buffer = -1;
  bool persistent = false;
};

/// Everything a stage touches while it runs.
struct Run {
  const uint8_t* images = nullptr;  ///< [count, size, size, 3]
  int count = 0;
  const uint64_t* first_image = nullptr;  ///< number of images[0] in the run, in the back end's memory
  const float* weights = nullptr;
  float* gradients = nullptr;
  float* statistics = nullptr;
  bool repack = true;  ///< persistent packed weights are stale
  SumOverRanks sum;    ///< empty unless batch norm spans the ranks
  /// To be called by a stage in backward once its parameters' gradients are final.
  std::function<void()> gradients_final;
  /// Backward: runs ops whose results no other stage reads, maybe beside the next layers' ops. The
  /// slots that they touch are planned by Planner::touch_beside().
  std::function<void(const std::function<void()>& ops)> beside;

  void* at(Slot slot) const { return slot.persistent ? persistent[slot.buffer] : planned[slot.buffer]; }
  void* const* planned = nullptr;     ///< addresses by buffer
  void* const* persistent = nullptr;  ///< addresses by buffer
};

/// A compiled layer. Planning happens once: plan_forward in the order of the graph, then
/// plan_backward in reverse.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual void plan_forward(Planner& planner) = 0;
  /// Takes the output's gradients and gives the inputs theirs.
  virtual void plan_backward(Planner& planner) = 0;
  virtual void forward(const Run& run) = 0;
  virtual void backward(const Run& run) = 0;
  /// See InputOp.
  virtual void prefetch(const uint8_t* /*images*/, int /*count*/) {}
};

/// What a program is compiled for.
struct Purpose {
  int batch = 0;
  bool training = true;
  DType storage = DType::f32;      ///< of activations and their gradients; the logits are always fp32
  std::optional<float> dropout{};  ///< instead of the layers' own rates
  uint64_t seed = 0;               ///< of what is drawn in training
  bool timed = true;               ///< Conv2dParams::timed
  bool keeps_batch = false;        ///< the images stay where they are until the next step
};

class Layer {
 public:
  Layer(std::string name, std::vector<ValueId> inputs) : name_(std::move(name)), inputs_(std::move(inputs)) {}
  virtual ~Layer() = default;
  const std::string& name() const { return name_; }
  const std::vector<ValueId>& inputs() const { return inputs_; }

  /// "Conv2d", "BatchNormAddRelu", …
  virtual std::string op() const = 0;
  /// Of the output, for a batch of `shape.n` images.
  virtual Shape output_shape() const = 0;
  virtual std::unique_ptr<Stage> compile(const Graph& graph, Planner& planner, Backend& backend,
                                         const Purpose& purpose) const = 0;
  /// What a batch norm is made of, for the layer behind it; nullptr for other layers.
  virtual const Normalisation* normalisation() const { return nullptr; }
  /// How this layer would like to find the network's input.
  virtual Layout preferred_input_layout(Backend& backend, const Purpose& purpose) const;

  // Set by Graph::add().
  ValueId output = -1;
  size_t parameters_begin = 0;  ///< its range of the parameter arena, in elements
  size_t parameters_end = 0;

 private:
  std::string name_;
  std::vector<ValueId> inputs_;
};

inline Layout Layer::preferred_input_layout(Backend&, const Purpose&) const { return Layout::nchw; }

}  // namespace trainyard
