// A network as the training loop sees it: one flat arena of parameters, one of gradients, one batch
// in, one loss out. What lies below (layers, ops, memory plan, layouts of activations) is the
// network's own business.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/models/precision/precision.h"
#include "trainer/ops/contract/memory_figures.h"
#include "trainer/optim/device_optimizer.h"

namespace trainyard {

class PlanChooser;

/// A batch as the loader hands it over. images: [count, size, size, 3], 8 bit RGB, row-major.
/// labels: [count]; of images that are mixtures of two those with the larger share.
struct BatchView {
  int count = 0;
  int image_size = 0;
  const uint8_t* images = nullptr;
  const int32_t* labels = nullptr;
  uint64_t first_image = 0;  ///< number of images[0] in the run's order over all ranks: what dropout draws follow
  const int32_t* other_labels = nullptr;  ///< [count]; nullptr: no mixtures
  float share = 1;                        ///< of `labels` in mixtures; other_labels have the rest
};

/// One named tensor inside a flat arena, in torchvision's name, shape and order (OIHW, row-major).
struct TensorInfo {
  std::string name;            ///< "layer1.0.conv1.weight"
  std::vector<int64_t> shape;  ///< {64, 64, 3, 3}
  size_t offset = 0;           ///< first element in the arena
  size_t size = 0;             ///< elements
  bool decay = true;  ///< a weight: decays by default, and has its own rate under LARS (not batch norm, not biases)
  bool head = false;  ///< of a layer that gives logits
};

/// Sums over all ranks, for batch norm whose statistics span the whole global batch. Summation
/// order is fixed.
class StatisticsReducer {
 public:
  virtual ~StatisticsReducer() = default;
  virtual void sum(double* values, size_t count) = 0;
  virtual int world() const = 0;
};

/// One node of the model's graph, for TensorBoard's graph view.
struct GraphNode {
  std::string name;  ///< "layer1/0/conv1": slashes make TensorBoard's groups
  std::string op;    ///< "Conv2d", "BatchNormAddRelu", …
  std::vector<std::string> inputs;
  std::vector<int64_t> output_shape;  ///< with -1 for the batch
};

struct NetworkOptions {
  std::string model;  ///< one of known_models()
  int classes = 0;
  int image_size = 0;  ///< square
  int batch = 0;       ///< the largest batch it will be given
  bool training = true;
  uint64_t seed = 1;
  StatisticsReducer* sync_batch_norm = nullptr;  ///< not owned; nullptr = each rank its own statistics
  float label_smoothing = 0;                     ///< of train_step's loss: see SoftmaxCrossEntropyOp; evaluate has none
  std::optional<float> dropout{};                ///< instead of the model's own rate; 0: none
  Precision precision = Precision::fp32;
  std::string device = "cpu";    ///< cpu or cuda
  int device_index = 0;          ///< which GPU, as CUDA counts
  PlanChooser* plans = nullptr;  ///< of a GPU's convolutions (CudaLibrary::open); not owned
  int host_ranks = 1;            ///< that train on this host: they share its memory
  /// How many bytes of the host's memory are free, now; none: base/spare_memory.h.
  std::function<uint64_t()> free_memory{};
  bool device_sums = false;  ///< devices sum gradients among themselves
  bool narrow_sums = false;  ///< they do so as bf16, in memory of its own that is still to come
  /// Gradients of several are added up, or may be after a restart; their memory is still to come.
  bool micro_batches = false;
  /// It trains and is given evaluations too, whose memory is taken before that of activations.
  bool evaluates = false;
  bool averages = false;       ///< of weights and statistics; their memory is still to come
  bool keeps_batch = false;    ///< keep_batch() will be called
  bool record_steps = true;    ///< a step's ops are launched as a few CUDA graphs
  bool memory_growth = false;  ///< memory for activations is taken by the first step that needs it
};

struct StepResult {
  double loss_sum = 0;  ///< over this rank's images; in training with the auxiliary heads' parts
  int64_t top1 = 0;     ///< images whose best class is their label (of a mixture the one with the larger share)
  int64_t top5 = 0;
};

class Network {
 public:
  virtual ~Network() = default;

  virtual const std::vector<TensorInfo>& parameters() const = 0;
  /// Batch norm's running_mean and running_var, in order of the layers, names as torchvision's.
  virtual const std::vector<TensorInfo>& statistics() const = 0;
  virtual std::vector<GraphNode> graph() const = 0;

  /// Flat arenas on the host, fp32, laid out by parameters() in the order of the forward pass.
  /// After writing weights() or running_statistics() from outside, call weights_changed().
  virtual std::span<float> weights() = 0;
  virtual std::span<float> gradients() = 0;
  virtual std::span<float> running_statistics() = 0;
  virtual void weights_changed() = 0;

  /// Forward, loss, backward. gradients() then hold d(sum of this rank's losses *
  /// loss_scale)/d(weight): overwritten, not accumulated. `ready(begin, end)` is called as soon as
  /// gradients()[begin, end) is final; the ranges come in falling order, touch one another, and
  /// cover the arena. `meanwhile` is called where the device works beside the host: when it has
  /// been told all of the step, before its figures are waited for.
  virtual StepResult train_step(const BatchView& batch, float loss_scale,
                                const std::function<void(size_t begin, size_t end)>& ready,
                                const std::function<void()>& meanwhile) = 0;
  StepResult train_step(const BatchView& batch, float loss_scale,
                        const std::function<void(size_t begin, size_t end)>& ready) {
    return train_step(batch, loss_scale, ready, nullptr);
  }
  /// In `meanwhile`: the images of the next training step, which has to be of this batch, are
  /// brought to the device beside its work.
  virtual void prefetch(const BatchView& /*batch*/) {}
  /// How many graphs the ops of a step were recorded in; 0: they are launched one by one.
  virtual size_t recorded_graphs() const { return 0; }
  /// Whether the device still works on what it was told.
  virtual bool busy() { return false; }
  /// Waits until it does not. Copies nothing.
  virtual void synchronize() {}
  /// Lets training steps from now on take the images and labels of the step before once more, from
  /// where the device has them: for measurements. The batch that such a step is given must be the
  /// same one. An evaluation ends this. Throws Error(Exit::internal) before the first step, and
  /// without NetworkOptions::keeps_batch.
  virtual void keep_batch() = 0;

  /// Lets weights and gradients stay in the device's memory and be updated there: nullptr where the
  /// host walks over them itself. From then on gradients() and the host's copies of weights are not
  /// kept up to date by steps (see DeviceOptimizer). Called once at most, before the first step.
  /// Owned by the network.
  virtual DeviceOptimizer* train_on_device(const OptimizerOptions& /*options*/,
                                           const std::vector<ParameterRange>& /*ranges*/,
                                           const std::vector<std::string>& /*suffixes*/) {
    return nullptr;
  }

  /// Forward with running statistics. logits: [batch.count, classes], row-major. labels may be
  /// null: then only logits.
  virtual StepResult evaluate(const BatchView& batch, std::span<float> logits) = 0;

  /// What it holds now, in bytes: parameters, gradients, activations (planned), scratch.
  virtual size_t memory_bytes() const = 0;
  /// What the first training step will take beside that.
  virtual size_t memory_to_come() const { return 0; }
  /// Of its device, where that has memory of its own.
  virtual std::optional<MemoryFigures> device_memory() { return std::nullopt; }
};

/// Builds a network on its device with initial weights drawn from options.seed (He et al. 2015 for
/// convolutions, PyTorch's defaults elsewhere). Throws Error(Exit::usage) naming the known models
/// when `model` is unknown, and Error(Exit::device) when the device cannot be used.
std::unique_ptr<Network> make_network(const NetworkOptions& options);

struct ModelInfo {
  std::string name;
  int image_size;        ///< what it is meant for
  int least_size;        ///< of an image's side: a pixel must be left behind the last stride
  bool any_size = true;  ///< the same weights take images of any size from there on
};
/// The models make_network knows.
std::span<const ModelInfo> known_models();
/// Throws Error(Exit::usage) naming the known models when it is none of them.
const ModelInfo& find_model(const std::string& model);

/// ImageNet's per-channel mean and standard deviation (of pixels scaled to [0, 1]), as
/// torchvision's weights expect them: every model normalises its input so. Source: torchvision's
/// ImageClassification preset.
inline constexpr float kPixelMean[3] = {0.485F, 0.456F, 0.406F};
inline constexpr float kPixelStd[3] = {0.229F, 0.224F, 0.225F};

}  // namespace trainyard
