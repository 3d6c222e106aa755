// Average pooling by oneDNN, in the layout of its input.
#include "common/error.h"
#include "trainer/ops/cpu/dnnl_support.h"
#include "trainer/ops/cpu/makers.h"

namespace trainyard::cpu {

namespace {

using dnnl::memory;

class DnnlAvgPool final : public AvgPoolOp {
 public:
  explicit DnnlAvgPool(const AvgPoolParams& p)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_), output_(avg_pool_output(p)) {
    const memory::desc x = memory_desc(p.input);
    const memory::desc y = memory_desc(output_);
    const memory::dims strides{p.stride, p.stride};
    const memory::dims kernel{p.kernel, p.kernel};
    const memory::dims dilation{0, 0};
    const memory::dims pads{p.pad, p.pad};
    constexpr auto kAverage = dnnl::algorithm::pooling_avg_include_padding;
    const auto kind = p.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
    const dnnl::pooling_forward::primitive_desc forward(engine_, kind, kAverage, x, y, strides, kernel, dilation, pads,
                                                        pads, user_scratch());
    scratch_bytes_ = forward.scratchpad_desc().get_size();
    forward_ = BoundPrimitive(engine_, dnnl::pooling_forward(forward),
                              {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}, {DNNL_ARG_SCRATCHPAD, forward.scratchpad_desc()}});
    if (!p.training) return;
    const dnnl::pooling_backward::primitive_desc backward(engine_, kAverage, x, y, strides, kernel, dilation, pads,
                                                          pads, forward, user_scratch());
    scratch_bytes_ = std::max(scratch_bytes_, backward.scratchpad_desc().get_size());
    backward_ = BoundPrimitive(
        engine_, dnnl::pooling_backward(backward),
        {{DNNL_ARG_DIFF_DST, y}, {DNNL_ARG_DIFF_SRC, x}, {DNNL_ARG_SCRATCHPAD, backward.scratchpad_desc()}});
  }

  const TensorDesc& output() const override { return output_; }
  size_t scratch_bytes() const override { return scratch_bytes_; }

  void forward(const void* x, void* y, void* scratch) override {
    forward_.set(DNNL_ARG_SRC, x);
    forward_.set(DNNL_ARG_DST, y);
    forward_.set(DNNL_ARG_SCRATCHPAD, scratch);
    forward_.run(stream_);
  }

  void backward(const void* dy, void* dx, void* scratch) override {
    backward_.set(DNNL_ARG_DIFF_DST, dy);
    backward_.set(DNNL_ARG_DIFF_SRC, dx);
    backward_.set(DNNL_ARG_SCRATCHPAD, scratch);
    backward_.run(stream_);
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  TensorDesc output_;
  size_t scratch_bytes_ = 0;
  BoundPrimitive forward_, backward_;
};

}  // namespace

TensorDesc avg_pool_output(const AvgPoolParams& p) {
  const Shape& in = p.input.shape;
  if (in.h + 2 * p.pad < p.kernel || in.w + 2 * p.pad < p.kernel) {
    throw Error(Exit::usage, "Pooling does not fit an input of " + to_string(in) + ". Use a larger --image-size.");
  }
  const auto size = [&](int extent) { return (extent + 2 * p.pad - p.kernel) / p.stride + 1; };
  return {{in.n, in.c, size(in.h), size(in.w)}, p.input.layout, p.input.dtype};
}

std::unique_ptr<AvgPoolOp> make_avg_pool(const AvgPoolParams& params) { return std::make_unique<DnnlAvgPool>(params); }

}  // namespace trainyard::cpu
