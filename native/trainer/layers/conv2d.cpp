// Convolution. Where the back end packs the weights of all convolutions at once, they stay. Otherwise
// packed weights live only while their op runs, except for inference.
#include <cmath>

#include "common/error.h"
#include "trainer/layers/graph.h"
#include "trainer/layers/layers.h"
#include "trainer/layers/norm/norm_merger.h"
#include "trainer/layers/planner.h"

namespace trainyard {

namespace {

/// Where a convolution stands in its graph.
struct Neighbours {
  bool is_normalised;  ///< y is read by a batch norm alone
  bool reads_first;    ///< no other layer reads x before, so none gives a gradient of it later
  bool reads_alone;    ///< no other layer reads x at all
};

class Conv2dStage final : public Stage, private NormMerger {
 public:
  Conv2dStage(const Layer& layer, const Purpose& purpose, const Conv2dParams& params, std::unique_ptr<Conv2dOp> op,
              const Neighbours& neighbours)
      : x_value_(layer.inputs()[0]),
        y_value_(layer.output),
        offset_(layer.parameters_begin),
        training_(purpose.training),
        sums_rows_(training_ && neighbours.is_normalised ? op->sums_rows() : 0),
        neighbours_(neighbours),
        op_(std::move(op)) {
    packed_weights_ = {.offset = offset_,
                       .out = params.out_channels,
                       .in = params.input.shape.c,
                       .kernel_h = params.kernel_h,
                       .kernel_w = params.kernel_w,
                       .dtype = params.input.dtype};
  }

  void plan_forward(Planner& planner) override {
    const size_t packed = op_->forward_weights_bytes();
    x_ = planner.activation(x_value_);
    y_ = planner.make_activation(y_value_);
    forward_scratch_ = planner.scratch(op_->forward_scratch_bytes());
    if (sums_rows_ > 0) sums_ = planner.make_channel_sums(y_value_, sums_rows_);
    if (training_ && sums_rows_ == 0 && op_->kept_bytes() > 0) kept_ = planner.keep(op_->kept_bytes());
    if (packed == 0) return;
    packed_ = planner.pack(packed_weights_);
    if (!packed_) forward_weights_ = training_ ? planner.scratch(packed) : planner.persistent(packed);
    if (packed_ && training_ && neighbours_.is_normalised && neighbours_.reads_alone &&
        planner.has_inner_end(x_value_)) {
      merge_bytes_ = op_->merge_bytes();
      if (merge_bytes_) planner.offer_merger(y_value_, this);
    }
  }

  void plan_backward(Planner& planner) override {
    if (merged_) return plan_merged(planner);
    if (!kept_) x_ = planner.activation(x_value_);
    dy_ = planner.take_gradients(y_value_, 1)[0];
    weights_scratch_ = planner.scratch(op_->backward_weights_scratch_bytes());
    const Slot x = kept_.value_or(x_);
    planner.touch(x);
    beside_ = planner.runs_beside(planner.desc(x_value_).bytes() + planner.desc(y_value_).bytes());
    if (beside_) {
      for (const Slot slot : {x, dy_, weights_scratch_}) planner.touch_beside(slot);
    }
    input_gradient_ = planner.wants_gradient(x_value_);
    if (!input_gradient_) return;
    if (packed_ && neighbours_.reads_first) {
      end_ = planner.take_end(x_value_, [this](GradientEndKind kind) { return op_->end_sums_rows(kind); });
    }
    if (end_) {
      PackedWeights transposed = packed_weights_;
      transposed.transposed = true;
      transposed_ = *planner.pack(transposed);
      dx_ = end_->gradient;
      return planner.give_gradient(x_value_, dx_);
    }
    const size_t packed = op_->backward_weights_bytes();
    if (packed > 0 && !packed_) backward_weights_ = planner.scratch(packed);
    data_scratch_ = planner.scratch(op_->backward_data_scratch_bytes());
    dx_ = planner.keep(planner.desc(x_value_).bytes());
    planner.give_gradient(x_value_, dx_);
  }

  void forward(const Run& run) override {
    const void* weights = packed_ ? run.at(*packed_) : run.weights + offset_;
    if (forward_weights_.buffer >= 0) {
      if (training_ || run.repack) op_->pack_forward(run.weights + offset_, run.at(forward_weights_));
      weights = run.at(forward_weights_);
    }
    if (sums_rows_ > 0) {
      op_->forward_with_sums(run.at(x_), weights, run.at(y_), run.at(forward_scratch_),
                             static_cast<float*>(run.at(sums_)));
    } else if (kept_) {
      op_->forward_keeping(run.at(x_), weights, run.at(y_), run.at(forward_scratch_), run.at(*kept_));
    } else {
      op_->forward(run.at(x_), weights, run.at(y_), run.at(forward_scratch_));
    }
  }

  void backward(const Run& run) override {
    if (merged_) {
      run.gradients_final();
      return op_->backward_data_merged(run.at(x_), run.at(dy_), run.at(*merged_), gradient_end(run), run.at(dx_));
    }
    if (beside_) {
      run.beside([&] { backward_weights(run); });
    } else {
      backward_weights(run);
    }
    run.gradients_final();
    if (!input_gradient_) return;
    if (end_) return op_->backward_data_to_end(run.at(dy_), run.at(transposed_), gradient_end(run), run.at(dx_));
    const void* weights = packed_ ? run.at(*packed_) : run.weights + offset_;
    if (backward_weights_.buffer >= 0) {
      op_->pack_backward(run.weights + offset_, run.at(backward_weights_));
      weights = run.at(backward_weights_);
    }
    op_->backward_data(run.at(dy_), weights, run.at(dx_), run.at(data_scratch_));
  }

 private:
  void plan_merge(Planner& planner) override {
    planner.touch(x_);
    pixels_scratch_ = planner.scratch(merge_bytes_.scratch);
    products_ = planner.scratch(merge_bytes_.products);
    merged_ = planner.keep(merge_bytes_.weights);
  }
  /// The batch norm behind has made the gradient of the weights.
  void plan_merged(Planner& planner) {
    planner.touch(x_);
    dy_ = planner.take_gradients(y_value_, 1)[0];
    planner.touch(*merged_);
    end_ = planner.take_end(x_value_, [this](GradientEndKind) { return op_->merged_sums_rows(); });
    if (!end_) throw Error(Exit::internal, "A merged batch norm's gradient has no end. Report it.");
    dx_ = end_->gradient;
    planner.give_gradient(x_value_, dx_);
  }
  BatchNormOp::Merging multiply_pixels(const Run& run) override {
    auto* products = static_cast<float*>(run.at(products_));
    op_->multiply_pixels(run.at(x_), run.at(dy_), run.at(pixels_scratch_), products);
    return {.products = products, .weights = run.at(*packed_), .inner = static_cast<unsigned>(packed_weights_.in)};
  }
  void merge(const Run& run, const MergedNorm& norm) override {
    op_->merge_norm(run.at(*packed_), static_cast<const float*>(run.at(products_)), norm, run.gradients + offset_,
                    run.at(*merged_));
  }

  void backward_weights(const Run& run) {
    float* dw = run.gradients + offset_;
    if (kept_) {
      op_->backward_weights_kept(run.at(*kept_), run.at(dy_), dw, run.at(weights_scratch_));
    } else {
      op_->backward_weights(run.at(x_), run.at(dy_), dw, run.at(weights_scratch_));
    }
  }

  GradientEnd gradient_end(const Run& run) const {
    GradientEnd end;
    end.kind = end_->norms.kind;
    if (end.kind != GradientEndKind::inner) end.more = run.at(end_->gradient);
    end.mask = end_->norms.mask(run.at(end_->norms.saved));
    for (size_t i = 0; i < end_->x.size(); ++i) end.x.at(i) = run.at(end_->x[i]);
    end.sums = static_cast<float*>(run.at(end_->sums));
    return end;
  }

  ValueId x_value_;
  ValueId y_value_;
  size_t offset_;  // of [out, in, kernel_h, kernel_w] in the parameter arena
  bool training_;
  unsigned sums_rows_;  // of the sums of y that the batch norm behind it wants; 0: none does
  Neighbours neighbours_;
  bool input_gradient_ = false;
  bool beside_ = false;  // the gradient of the weights
  PackedWeights packed_weights_;
  std::optional<Slot> packed_;  // where the program packs, before the first stage
  std::unique_ptr<Conv2dOp> op_;
  Slot x_, dx_;                             // [n, in, h, w]
  Slot y_, dy_;                             // [n, out, h', w']
  Slot sums_;                               // [2, sums_rows_, out]
  std::optional<Slot> kept_;                // what forward keeps of x
  std::optional<Planner::PlannedEnd> end_;  // of dx, where this op makes it
  Slot transposed_;                         // [in, out]
  MergeBytes merge_bytes_;
  std::optional<Slot> merged_;  // MergeBytes::weights, where the batch norm behind is merged
  Slot products_, pixels_scratch_;
  Slot forward_weights_, backward_weights_;
  Slot forward_scratch_, data_scratch_, weights_scratch_;
};

class Conv2dLayer final : public Layer {
 public:
  Conv2dLayer(const std::string& name, ValueId x, const Shape& in, const Conv2dOptions& options)
      : Layer(name, {x}), in_(in), options_(options) {}
  std::string op() const override { return "Conv2d"; }
  Shape output_shape() const override { return params({in_, Layout::nchw}).output_shape(); }

  std::unique_ptr<Stage> compile(const Graph& graph, Planner& planner, Backend& backend,
                                 const Purpose& purpose) const override {
    Conv2dParams made = params(planner.desc(inputs()[0]));
    made.training = purpose.training;
    made.timed = purpose.timed;
    made.input_gradient = purpose.training && planner.wants_gradient(inputs()[0]);
    auto op = backend.make_conv2d(made);
    planner.set_desc(output, op->output());
    const Neighbours neighbours{
        .is_normalised = graph.is_read_once(output) && graph.first_consumer(output)->normalisation() != nullptr,
        .reads_first = graph.first_consumer(inputs()[0]) == this,
        .reads_alone = graph.is_read_once(inputs()[0])};
    return std::make_unique<Conv2dStage>(*this, purpose, made, std::move(op), neighbours);
  }

  Layout preferred_input_layout(Backend& backend, const Purpose& purpose) const override {
    Conv2dParams asked = params({in_, Layout::nchw});
    asked.input.shape.n = purpose.batch;
    asked.input.dtype = purpose.storage;
    asked.training = purpose.training;
    return backend.input_layout(asked);
  }

 private:
  Conv2dParams params(const TensorDesc& x) const {
    Conv2dParams made;
    made.input = x;
    made.out_channels = options_.out;
    made.kernel_h = options_.kernel[0];
    made.kernel_w = options_.kernel[1];
    made.stride_h = options_.stride[0];
    made.stride_w = options_.stride[1];
    made.pad_h = options_.pad[0];
    made.pad_w = options_.pad[1];
    return made;
  }

  Shape in_;  // [1, in, h, w]
  Conv2dOptions options_;
};

}  // namespace

ValueId conv2d(Graph& graph, const std::string& name, ValueId x, const Conv2dOptions& options) {
  const Shape in = graph.shape(x);
  Parameter weight;
  weight.name = name + ".weight";
  weight.shape = {options.out, in.c, options.kernel[0], options.kernel[1]};
  weight.init = Init::normal;
  weight.spread = options.deviation > 0
                      ? options.deviation
                      : std::sqrt(2.0 / (double(options.out) * options.kernel[0] * options.kernel[1]));
  graph.add_parameter(std::move(weight));
  return graph.add(std::make_unique<Conv2dLayer>(name, x, in, options));
}

ValueId conv2d(Graph& graph, const std::string& name, ValueId x, int out, int kernel, int stride) {
  return conv2d(graph, name, x, {out, {kernel, kernel}, {stride, stride}, {kernel / 2, kernel / 2}});
}

}  // namespace trainyard
