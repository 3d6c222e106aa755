// A loss scaled so that small gradients do not vanish in fp16 (Micikevicius et al. 2018,
// arXiv:1710.03740, section 3.2), by a factor that finds itself.
#pragma once
#include <cstdint>
#include <span>

namespace trainyard {

/// The defaults are those of PyTorch's torch.amp.GradScaler.
struct LossScalerOptions {
  float scale = 65536;              ///< at first; powers of two round nothing
  float growth = 2;                 ///< factor after `growth_interval` good steps in a row
  float backoff = 0.5F;             ///< factor after a step whose gradients are not all finite
  int64_t growth_interval = 2'000;  ///< steps
};

/// What a checkpoint keeps of one.
struct LossScalerState {
  float scale = 0;
  int64_t good = 0;     ///< steps since it last changed
  int64_t skipped = 0;  ///< steps left out
};

/// torch.amp.GradScaler's rule (PyTorch 2.11, torch/amp/grad_scaler.py and _amp_update_scale_ in
/// aten/src/ATen/native/cuda/AmpKernels.cu): a step whose gradients are not all finite is left out
/// and the scale backs off; after enough good ones in a row it grows, unless it would leave fp32.
/// Every rank that sees the same gradients has the same scale.
class LossScaler {
 public:
  /// Throws Error(Exit::internal) for options that make no sense.
  explicit LossScaler(const LossScalerOptions& options);

  /// What the loss is to be multiplied by.
  float scale() const { return scale_; }
  /// Good steps since the scale last changed.
  int64_t good_steps() const { return good_; }
  /// Steps left out so far.
  int64_t skipped() const { return skipped_; }

  /// Divides gradients of the scaled loss by the scale. Returns whether all are finite, before and
  /// after.
  bool unscale(std::span<float> gradients) const;
  LossScalerState state() const { return {scale_, good_, skipped_}; }
  /// Goes on from there. Throws Error(Exit::data) for what no scaler was ever in.
  void restore(const LossScalerState& state);
  /// What a step, good or left out, makes of the scale.
  void update(bool good);

 private:
  LossScalerOptions options_;
  float scale_;
  int64_t good_ = 0;
  int64_t skipped_ = 0;
};

}  // namespace trainyard
