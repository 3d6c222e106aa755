// Convolutions by oneDNN. Activations keep the layout of the op before; oneDNN picks the output's
// and the weights'.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "common/error.h"
#include "trainer/base/aligned_memory.h"
#include "trainer/ops/cpu/columns_gradient.h"
#include "trainer/ops/cpu/dnnl_support.h"
#include "trainer/ops/cpu/makers.h"

namespace trainyard::cpu {

namespace {

using dnnl::memory;
using Forward = dnnl::convolution_forward::primitive_desc;
using BackwardData = dnnl::convolution_backward_data::primitive_desc;
using BackwardWeights = dnnl::convolution_backward_weights::primitive_desc;

size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// The three primitive descriptors of one choice of layouts.
struct Choice {
  Forward forward;
  BackwardData backward_data;        // empty unless asked for
  BackwardWeights backward_weights;  // empty unless asked for
  TensorDesc output;
  bool known = false;  // the output has one of our layouts
  int slow = 0;        // how many of the kernels are oneDNN's unoptimised reference

  static int is_slow(const char* name) { return std::string(name).find("ref") != std::string::npos ? 1 : 0; }

  Choice(const dnnl::engine& engine, const Conv2dParams& p, const memory::desc& x, const memory::desc& y) {
    const memory::dims strides{p.stride_h, p.stride_w};
    const memory::dims dilates{0, 0};
    const memory::dims pads{p.pad_h, p.pad_w};
    const DType dtype = p.input.dtype;
    const memory::dims kernel{p.out_channels, p.input.shape.c, p.kernel_h, p.kernel_w};
    const memory::desc weights(kernel, type_of(dtype), memory::format_tag::any);
    const memory::desc gradient(kernel, memory::data_type::f32, memory::format_tag::any);
    const auto kind = p.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
    constexpr auto kDirect = dnnl::algorithm::convolution_direct;
    const dnnl::primitive_attr attributes = user_scratch();
    forward = Forward(engine, kind, kDirect, x, weights, y, strides, dilates, pads, pads, attributes);
    slow = is_slow(forward.impl_info_str());
    const memory::desc chosen_x = forward.src_desc();
    const memory::desc chosen_y = forward.dst_desc();
    const Shape shape = p.output_shape();
    const auto layout = layout_of(chosen_y, shape, dtype);
    known = layout.has_value();
    if (!known) return;
    output = {shape, *layout, dtype};
    if (p.training) {
      backward_weights = BackwardWeights(engine, kDirect, chosen_x, gradient, chosen_y, strides, dilates, pads, pads,
                                         forward, attributes);
      slow += is_slow(backward_weights.impl_info_str());
      if (p.input_gradient) {
        backward_data = BackwardData(engine, kDirect, chosen_x, weights, chosen_y, strides, dilates, pads, pads,
                                     forward, attributes);
        slow += is_slow(backward_data.impl_info_str());
      }
    }
  }
};

/// oneDNN's own choice if it is whole and fast, else the layout with the fewest slow kernels.
Choice choose(const dnnl::engine& engine, const Conv2dParams& params) {
  const memory::desc x = memory_desc(params.input);
  Choice best(engine, params, x, any_layout(params.output_shape(), params.input.dtype));
  if (best.known && best.slow == 0) return best;
  for (const Layout layout : {Layout::nchw16c, Layout::nchw8c, Layout::nhwc, Layout::nchw}) {
    const Choice other(engine, params, x, memory_desc({params.output_shape(), layout, params.input.dtype}));
    if (!best.known || other.slow < best.slow) best = other;
  }
  return best;
}

class DnnlConv2d final : public Conv2dOp {
 public:
  explicit DnnlConv2d(const Conv2dParams& params)
      : engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        choice_(choose(engine_, params)),
        plain_({params.out_channels, params.input.shape.c, params.kernel_h, params.kernel_w}, memory::data_type::f32,
               memory::format_tag::oihw),
        plain_x_(memory_desc({params.input.shape, Layout::nchw, params.input.dtype})),
        plain_dy_(memory_desc({params.output_shape(), Layout::nhwc, params.input.dtype})) {
    const Forward& f = choice_.forward;
    forward_ = BoundPrimitive(engine_, dnnl::convolution_forward(f),
                              {{DNNL_ARG_SRC, f.src_desc()},
                               {DNNL_ARG_WEIGHTS, f.weights_desc()},
                               {DNNL_ARG_DST, f.dst_desc()},
                               {DNNL_ARG_SCRATCHPAD, f.scratchpad_desc()}});
    if (forward_weights_bytes() > 0) pack_forward_ = reorder(plain_, f.weights_desc());
    if (!params.training) return;
    bind_backward_weights(params);
    if (!choice_.backward_data) return;
    const BackwardData& d = choice_.backward_data;
    backward_data_ = BoundPrimitive(engine_, dnnl::convolution_backward_data(d),
                                    {{DNNL_ARG_DIFF_DST, d.diff_dst_desc()},
                                     {DNNL_ARG_WEIGHTS, d.weights_desc()},
                                     {DNNL_ARG_DIFF_SRC, d.diff_src_desc()},
                                     {DNNL_ARG_SCRATCHPAD, d.scratchpad_desc()}});
    if (backward_weights_bytes() > 0) pack_backward_ = reorder(plain_, d.weights_desc());
  }

  const TensorDesc& output() const override { return choice_.output; }

  std::string description() const override {
    std::string text = choice_.forward.impl_info_str();
    text += std::string(", data ") + (choice_.backward_data ? choice_.backward_data.impl_info_str() : "none");
    const char* weights = choice_.backward_weights ? choice_.backward_weights.impl_info_str() : "none";
    text += std::string(", weights ") + (columns_ ? "products of columns" : weights);
    return text;
  }

  size_t forward_weights_bytes() const override { return packed_bytes(choice_.forward.weights_desc()); }
  size_t backward_weights_bytes() const override {
    return choice_.backward_data ? packed_bytes(choice_.backward_data.weights_desc()) : 0;
  }
  size_t forward_scratch_bytes() const override { return choice_.forward.scratchpad_desc().get_size(); }
  size_t backward_data_scratch_bytes() const override {
    return choice_.backward_data ? choice_.backward_data.scratchpad_desc().get_size() : 0;
  }
  size_t backward_weights_scratch_bytes() const override {
    if (columns_) return round_up(x_copy_bytes()) + round_up(dy_copy_bytes()) + columns_->columns_bytes();
    if (!choice_.backward_weights) return 0;
    return round_up(packed_gradient_bytes()) + choice_.backward_weights.scratchpad_desc().get_size();
  }

  void pack_forward(const float* weights, void* packed) override { run_reorder(pack_forward_, weights, packed); }
  void pack_backward(const float* weights, void* packed) override { run_reorder(pack_backward_, weights, packed); }

  void forward(const void* x, const void* weights, void* y, void* scratch) override {
    forward_.set(DNNL_ARG_SRC, x);
    forward_.set(DNNL_ARG_WEIGHTS, weights);
    forward_.set(DNNL_ARG_DST, y);
    forward_.set(DNNL_ARG_SCRATCHPAD, scratch);
    forward_.run(stream_);
  }

  void backward_data(const void* dy, const void* weights, void* dx, void* scratch) override {
    backward_data_.set(DNNL_ARG_DIFF_DST, dy);
    backward_data_.set(DNNL_ARG_WEIGHTS, weights);
    backward_data_.set(DNNL_ARG_DIFF_SRC, dx);
    backward_data_.set(DNNL_ARG_SCRATCHPAD, scratch);
    backward_data_.run(stream_);
  }

  void backward_weights(const void* x, const void* dy, float* dw, void* scratch) override {
    if (columns_) return products_of_columns(x, dy, dw, static_cast<std::byte*>(scratch));
    const size_t packed = packed_gradient_bytes();
    void* blocked = packed > 0 ? scratch : dw;
    backward_weights_.set(DNNL_ARG_SRC, x);
    backward_weights_.set(DNNL_ARG_DIFF_DST, dy);
    backward_weights_.set(DNNL_ARG_DIFF_WEIGHTS, blocked);
    backward_weights_.set(DNNL_ARG_SCRATCHPAD, static_cast<std::byte*>(scratch) + round_up(packed));
    backward_weights_.run(stream_);
    if (packed > 0) run_reorder(unpack_gradient_, blocked, dw);
  }

 private:
  void bind_backward_weights(const Conv2dParams& params) {
    const BackwardWeights& w = choice_.backward_weights;
    // Without AVX-512, oneDNN 3 has only its reference where a row of an image has 1 or 2 pixels.
    if (Choice::is_slow(w.impl_info_str()) != 0 && params.input.dtype == DType::f32) {
      columns_.emplace(params);
      if (x_copy_bytes() > 0) copy_x_ = reorder(choice_.forward.src_desc(), plain_x_);
      if (dy_copy_bytes() > 0) copy_dy_ = reorder(choice_.forward.dst_desc(), plain_dy_);
      return;
    }
    backward_weights_ = BoundPrimitive(engine_, dnnl::convolution_backward_weights(w),
                                       {{DNNL_ARG_SRC, w.src_desc()},
                                        {DNNL_ARG_DIFF_DST, w.diff_dst_desc()},
                                        {DNNL_ARG_DIFF_WEIGHTS, w.diff_weights_desc()},
                                        {DNNL_ARG_SCRATCHPAD, w.scratchpad_desc()}});
    if (packed_gradient_bytes() > 0) unpack_gradient_ = reorder(w.diff_weights_desc(), plain_);
  }

  void products_of_columns(const void* x, const void* dy, float* dw, std::byte* scratch) {
    if (x_copy_bytes() > 0) {
      run_reorder(copy_x_, x, scratch);
      x = std::exchange(scratch, scratch + round_up(x_copy_bytes()));
    }
    if (dy_copy_bytes() > 0) {
      run_reorder(copy_dy_, dy, scratch);
      dy = std::exchange(scratch, scratch + round_up(dy_copy_bytes()));
    }
    columns_->run(static_cast<const float*>(x), static_cast<const float*>(dy), dw, reinterpret_cast<float*>(scratch));
  }

  /// 0 where both are one layout: nothing is copied.
  static size_t copy_bytes(const memory::desc& from, const memory::desc& to) { return from == to ? 0 : to.get_size(); }
  size_t x_copy_bytes() const { return copy_bytes(choice_.forward.src_desc(), plain_x_); }
  size_t dy_copy_bytes() const { return copy_bytes(choice_.forward.dst_desc(), plain_dy_); }

  size_t packed_bytes(const memory::desc& desc) const { return copy_bytes(plain_, desc); }
  size_t packed_gradient_bytes() const {
    return choice_.backward_weights ? packed_bytes(choice_.backward_weights.diff_weights_desc()) : 0;
  }

  BoundPrimitive reorder(const memory::desc& from, const memory::desc& to) {
    const dnnl::reorder::primitive_desc desc(engine_, from, engine_, to, user_scratch());
    const size_t scratch = desc.scratchpad_desc().get_size();
    if (scratch > reorder_scratch_.bytes()) reorder_scratch_ = AlignedMemory(scratch);
    return {engine_,
            dnnl::reorder(desc),
            {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()}}};
  }

  void run_reorder(BoundPrimitive& primitive, const void* from, void* to) {
    primitive.set(DNNL_ARG_FROM, from);
    primitive.set(DNNL_ARG_TO, to);
    primitive.set(DNNL_ARG_SCRATCHPAD, reorder_scratch_.data());
    primitive.run(stream_);
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  Choice choice_;
  memory::desc plain_;               // [out, in, kernel_h, kernel_w]
  memory::desc plain_x_, plain_dy_;  // what columns_ reads
  AlignedMemory reorder_scratch_;
  BoundPrimitive forward_, backward_data_, backward_weights_;
  BoundPrimitive pack_forward_, pack_backward_, unpack_gradient_;
  std::optional<ColumnsGradient> columns_;  // in place of backward_weights_
  BoundPrimitive copy_x_, copy_dy_;         // for columns_
};

}  // namespace

Layout conv2d_input_layout(const Conv2dParams& params) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  Conv2dParams first = params;
  first.input_gradient = false;
  const DType dtype = params.input.dtype;
  const Choice choice(engine, first, any_layout(params.input.shape, dtype), any_layout(params.output_shape(), dtype));
  return layout_of(choice.forward.src_desc(), params.input.shape, dtype).value_or(Layout::nchw);
}

std::unique_ptr<Conv2dOp> make_conv2d(const Conv2dParams& params) {
  const Shape out = params.output_shape();
  if (out.h < 1 || out.w < 1) {
    throw Error(Exit::usage, "A " + std::to_string(params.kernel_h) + "x" + std::to_string(params.kernel_w) +
                                 " convolution does not fit an input of " + to_string(params.input.shape) +
                                 ". Use a larger --image-size.");
  }
  return std::make_unique<DnnlConv2d>(params);
}

}  // namespace trainyard::cpu
