// Hands out buffers while a program is compiled, and writes down when each is needed.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/layers/layer.h"
#include "trainer/tensor/memory_plan.h"

namespace trainyard {

class NormMerger;

/// For how many layers the ops of Run::beside may stand beside those that follow: two convolutions
/// and their batch norms. More would keep more gradients in memory.
inline constexpr int kLayersBeside = 4;
/// What such ops read at most. Larger ones fill a device by themselves, and their memory is wanted
/// again soon.
inline constexpr size_t kBytesBeside = size_t{128} << 20U;

class Planner {
 public:
  Planner(Backend& backend, int values);

  /// The form an activation has; set by the stage that produces it, when it is compiled.
  const TensorDesc& desc(ValueId value) const { return descs_[static_cast<size_t>(value)]; }
  void set_desc(ValueId value, const TensorDesc& desc) { descs_[static_cast<size_t>(value)] = desc; }

  /// The moment that the calls below speak of.
  void set_time(int time) { time_ = time; }

  /// A new buffer for an activation, alive from now.
  Slot make_activation(ValueId value);
  /// Lets `value` be another name for `same`, in the same memory.
  void alias_activation(ValueId value, ValueId same);
  /// An activation that is needed now.
  Slot activation(ValueId value);

  /// While stages are compiled: the stage of the layer that reads `value` makes it itself, never as
  /// an activation, and takes its gradient. What would have made it does nothing.
  void take_over(ValueId value) { taken_over_[static_cast<size_t>(value)] = true; }
  bool is_taken_over(ValueId value) const { return taken_over_[static_cast<size_t>(value)]; }

  /// Memory for what the op that makes `value` adds up of it, alive from now until channel_sums()
  /// asks for the last time. rows: of ChannelSums.
  Slot make_channel_sums(ValueId value, unsigned rows);
  struct PlannedSums {
    Slot slot;
    unsigned rows = 0;  ///< 0: there are none
  };
  PlannedSums channel_sums(ValueId value);

  /// Forward: `merger` made `value`, and can merge the batch norm that reads it.
  void offer_merger(ValueId value, NormMerger* merger) { mergers_[static_cast<size_t>(value)] = merger; }
  /// nullptr where there is none.
  NormMerger* merger(ValueId value) const { return mergers_[static_cast<size_t>(value)]; }

  /// Batch norms with a NormMask: the convolution that gives the last gradient of their output may
  /// make its end.
  struct MaskedNorms {
    GradientEndKind kind = GradientEndKind::inner;
    std::vector<ValueId> x;  ///< their inputs that g is multiplied with: none, one, or two
    Slot saved;
    std::function<NormMask(const void* saved)> mask;
  };
  void offer_masked_norms(ValueId value, MaskedNorms norms) {
    masked_norms_[static_cast<size_t>(value)] = std::move(norms);
  }
  /// Whether a batch norm with ReLU, and nothing added, made `value`.
  bool has_inner_end(ValueId value) const {
    const MaskedNorms& norms = masked_norms_[static_cast<size_t>(value)];
    return norms.mask && norms.kind == GradientEndKind::inner;
  }
  /// Backward: what the end of a gradient is made of.
  struct PlannedEnd {
    MaskedNorms norms;
    std::vector<Slot> x;  ///< of the inputs
    Slot gradient;        ///< to be given: where g goes, and where another gradient lies that is added
    Slot sums;            ///< GradientEnd's
  };
  /// Where batch norms with a mask made `value`, and the gradients given so far are what their kind
  /// adds. rows: of the sums for a kind; nullopt for 0.
  std::optional<PlannedEnd> take_end(ValueId value, const std::function<unsigned(GradientEndKind)>& rows);
  /// Of the end of the gradient of `value`, where a convolution made it; rows 0: none did.
  PlannedSums end_sums(ValueId value);

  /// Memory for this moment only.
  Slot scratch(size_t bytes) { return keep(bytes); }
  /// Memory alive from now until it is last touched.
  Slot keep(size_t bytes);
  void touch(Slot slot) { plan_.use(slot.buffer, time_); }
  /// Whether ops that read so much are worth Run::beside.
  bool runs_beside(size_t bytes) const { return bytes <= kBytesBeside && backend_.runs_beside(); }
  /// By ops of Run::beside.
  void touch_beside(Slot slot) { plan_.use(slot.buffer, time_ + kLayersBeside); }
  /// Memory that lives as long as the program.
  Slot persistent(size_t bytes);

  /// Memory for packed weights that the program makes for all convolutions at once, before its
  /// first stage; nullopt where the back end packs each by itself.
  std::optional<Slot> pack(const PackedWeights& weights);
  /// In the order of the calls, each with its slot.
  const std::vector<std::pair<PackedWeights, Slot>>& packs() const { return packs_; }

  /// Whether anything upstream of `value` has parameters.
  bool wants_gradient(ValueId value) const { return wants_gradient_[static_cast<size_t>(value)]; }
  void set_wants_gradient(ValueId value) { wants_gradient_[static_cast<size_t>(value)] = true; }
  /// Hands over a gradient of `value`, one of as many as it has consumers.
  void give_gradient(ValueId value, Slot gradient);
  /// All gradients of `value`, the stage's own to destroy. When there are more than `most`, the
  /// first take in the rest before the stage runs.
  std::vector<Slot> take_gradients(ValueId value, size_t most);

  struct Addition {
    int time;
    std::shared_ptr<AddOp> op;
    Slot to;
    Slot from;
  };
  const std::vector<Addition>& additions() const { return additions_; }
  MemoryPlan& plan() { return plan_; }
  const std::vector<size_t>& persistent_bytes() const { return persistent_; }

 private:
  PlannedSums touched(const PlannedSums& sums);

  Backend& backend_;
  int time_ = 0;
  MemoryPlan plan_;
  std::vector<TensorDesc> descs_;             // by value
  std::vector<Slot> activations_;             // by value
  std::vector<PlannedSums> channel_sums_;     // by value
  std::vector<PlannedSums> end_sums_;         // by value
  std::vector<MaskedNorms> masked_norms_;     // by value
  std::vector<NormMerger*> mergers_;          // by value
  std::vector<std::vector<Slot>> gradients_;  // by value
  std::vector<bool> wants_gradient_;          // by value
  std::vector<bool> taken_over_;              // by value
  std::vector<Addition> additions_;
  std::vector<size_t> persistent_;
  std::vector<std::pair<PackedWeights, Slot>> packs_;
};

}  // namespace trainyard
