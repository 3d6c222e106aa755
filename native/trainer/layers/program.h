// A graph compiled for one purpose: stages in order, and one planned piece of memory behind all of
// them.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "trainer/layers/graph.h"
#include "trainer/layers/layer.h"
#include "trainer/layers/planner.h"

namespace trainyard {

class Program {
 public:
  Program(const Graph& graph, Backend& backend, const Purpose& purpose);

  /// Bytes of the planned memory that bind() wants, and of what the program holds itself.
  size_t arena_bytes() const { return arena_bytes_; }
  size_t persistent_bytes() const { return persistent_ ? persistent_->bytes() : 0; }
  /// Points the program at its memory, which other programs may use between two runs.
  void bind(std::byte* arena);
  bool bound() const { return !planned_.empty(); }

  /// Packed weights are made anew at the next forward pass.
  void weights_changed() { packed_ = false; }

  /// Of the next training step; see InputOp.
  void prefetch(const uint8_t* images, int count) { stages_.front()->prefetch(images, count); }
  /// The first stage alone, which reads `run`'s images.
  void take_images(Run run);
  /// All that follows; fills the logits. `run` needs weights and statistics.
  void forward(Run run);
  /// The last layer's output, [batch, classes], plain.
  void* logits() const { return planned_[static_cast<size_t>(logits_.buffer)]; }
  /// Where backward expects d(loss)/d(logits).
  void* logits_gradient() const { return planned_[static_cast<size_t>(logits_gradient_.buffer)]; }
  /// The graph's auxiliary heads, in its order; of a program for training only.
  struct Head {
    void* logits;
    void* gradient;  ///< where backward expects d(loss)/d(logits)
    float weight;
  };
  std::vector<Head> auxiliary_heads() const;
  /// Everything behind the loss. `ready(begin, end)` as in Network::train_step.
  void backward(Run run, const std::function<void(size_t, size_t)>& ready);

  /// The backward pass in parts that run one after the other and call nobody: each makes the
  /// gradients [begin, end) final.
  struct Part {
    size_t first, last;  ///< of backward_: [first, last)
    size_t begin, end;
  };
  const std::vector<Part>& backward_parts() const { return parts_; }
  void backward_part(const Part& part, Run run);

 private:
  void plan(Planner& planner);
  void cut_backward();
  void attach(Run& run) const;
  void backward_layer(size_t layer, const Run& run);

  const Graph& graph_;
  Backend& backend_;
  Purpose purpose_;
  std::vector<std::unique_ptr<Stage>> stages_;  // by layer; none for what inference does not need
  std::vector<size_t> backward_;                // the layers that have a backward pass, last first
  std::vector<Part> parts_;
  std::vector<std::vector<Planner::Addition>> additions_;  // by layer, before its backward
  std::vector<size_t> offsets_;                            // by planned buffer
  size_t arena_bytes_ = 0;
  std::unique_ptr<BackendMemory> persistent_;
  std::unique_ptr<PackOp> pack_;             ///< nullptr where each convolution packs its own weights
  std::vector<void*> planned_;               // addresses
  std::vector<void*> persistent_addresses_;  // addresses
  Slot logits_, logits_gradient_;
  struct HeadSlots {
    Slot logits, gradient;
    float weight;
  };
  std::vector<HeadSlots> auxiliaries_;
  bool packed_ = false;
};

}  // namespace trainyard
