// What turns gradients into new weights, and what it remembers from step to step. An optimizer is a
// class in files of its own, with the arithmetic of one weight in NAME_math.h, which the GPU's
// kernel uses too.
// A new one also needs: known_optimizers and make_optimizer (optimizer.cpp); ops/cuda/math/update_wide.h
// with ops/cuda/update.cpp; cli/flags/recipe_flags.cpp; train/plan/plan.cpp and recipe.cpp; runs of
// PyTorch's in tests/optim/oracle_test.cpp. CONTRIBUTING.md says which test finds which omission.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

/// One tensor of the parameter arena, as optimizers see it.
struct ParameterRange {
  size_t offset = 0;
  size_t size = 0;
  bool decay = true;  ///< weight decay applies
  bool adapt = true;  ///< LARS gives it a rate of its own (not batch norm, not biases)
};

struct OptimizerOptions {
  std::string kind = "sgd";  ///< one of known_optimizers()
  double weight_decay = 1e-4;
  bool decay_norm_and_bias = false;  ///< weight decay also on batch norm and biases, as plain PyTorch
  double momentum = 0.9;             ///< sgd, lars
  double trust = 0.001;              ///< lars: its trust coefficient
  double beta1 = 0.9;                ///< adam, adamw
  double beta2 = 0.999;              ///< adam, adamw
  double epsilon = 1e-8;             ///< adam, adamw
};

/// Something remembered of each weight: a whole arena, laid out as the weights.
struct OptimizerState {
  std::string suffix;  ///< of its tensors' names in optimizer.safetensors: ".momentum"
  std::span<float> values;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// One update in place. weights, gradients: the whole arena, fp32. `number` counts the run's
  /// updates from 1. What it computes does not depend on the number of threads.
  virtual void step(std::span<float> weights, std::span<const float> gradients, float lr, int64_t number) = 0;
  /// All that must be restored, besides the number of updates, to go on bit for bit.
  virtual std::vector<OptimizerState> state() = 0;
};

/// Which ranges decay: weights, and on request all. make_optimizer does it for its own.
void fill_decay(const OptimizerOptions& options, std::vector<ParameterRange>& ranges);

/// `adapt` of each range says whether it is a weight (of a convolution or a linear layer); its
/// `decay` is filled in here. Throws Error(Exit::usage) for an unknown kind.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, std::vector<ParameterRange> ranges,
                                          size_t arena_size);

/// adam or adamw, which differ in weight decay alone.
inline bool is_adam(const std::string& kind) { return kind == "adam" || kind == "adamw"; }

struct OptimizerInfo {
  std::string kind;
  double lr;  ///< where a run starts when nobody says otherwise
};
std::span<const OptimizerInfo> known_optimizers();

}  // namespace trainyard
