// Max pooling by oneDNN, in the layout of its input.
#include "common/error.h"
#include "trainer/ops/cpu/dnnl_support.h"
#include "trainer/ops/cpu/makers.h"

namespace trainyard::cpu {

namespace {

using dnnl::memory;

class DnnlMaxPool final : public MaxPoolOp {
 public:
  explicit DnnlMaxPool(const MaxPoolParams& p) : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    const Shape& in = p.input.shape;
    const Shape out{in.n, in.c, (in.h + 2 * p.pad - p.kernel) / p.stride + 1,
                    (in.w + 2 * p.pad - p.kernel) / p.stride + 1};
    if (out.h < 1 || out.w < 1) {
      throw Error(Exit::usage, "Pooling does not fit an input of " + to_string(in) + ". Use a larger --image-size.");
    }
    output_ = {out, p.input.layout, p.input.dtype};
    const memory::desc x = memory_desc(p.input);
    const memory::desc y = memory_desc(output_);
    const memory::dims strides{p.stride, p.stride};
    const memory::dims kernel{p.kernel, p.kernel};
    const memory::dims dilation{0, 0};
    const memory::dims pads{p.pad, p.pad};
    constexpr auto kMax = dnnl::algorithm::pooling_max;
    const auto kind = p.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
    const dnnl::pooling_forward::primitive_desc forward(engine_, kind, kMax, x, y, strides, kernel, dilation, pads,
                                                        pads, user_scratch());
    std::vector<std::pair<int, memory::desc>> arguments{
        {DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}, {DNNL_ARG_SCRATCHPAD, forward.scratchpad_desc()}};
    if (p.training) {
      workspace_bytes_ = forward.workspace_desc().get_size();
      arguments.emplace_back(DNNL_ARG_WORKSPACE, forward.workspace_desc());
    }
    scratch_bytes_ = forward.scratchpad_desc().get_size();
    forward_ = BoundPrimitive(engine_, dnnl::pooling_forward(forward), arguments);
    if (!p.training) return;
    const dnnl::pooling_backward::primitive_desc backward(engine_, kMax, x, y, strides, kernel, dilation, pads, pads,
                                                          forward, user_scratch());
    scratch_bytes_ = std::max(scratch_bytes_, backward.scratchpad_desc().get_size());
    backward_ = BoundPrimitive(engine_, dnnl::pooling_backward(backward),
                               {{DNNL_ARG_DIFF_DST, y},
                                {DNNL_ARG_DIFF_SRC, x},
                                {DNNL_ARG_WORKSPACE, forward.workspace_desc()},
                                {DNNL_ARG_SCRATCHPAD, backward.scratchpad_desc()}});
  }

  const TensorDesc& output() const override { return output_; }
  size_t workspace_bytes() const override { return workspace_bytes_; }
  size_t scratch_bytes() const override { return scratch_bytes_; }

  void forward(const void* x, void* y, void* workspace, void* scratch) override {
    forward_.set(DNNL_ARG_SRC, x);
    forward_.set(DNNL_ARG_DST, y);
    forward_.set(DNNL_ARG_SCRATCHPAD, scratch);
    if (workspace_bytes_ > 0) forward_.set(DNNL_ARG_WORKSPACE, workspace);
    forward_.run(stream_);
  }

  void backward(const void* dy, const void* workspace, void* dx, void* scratch) override {
    backward_.set(DNNL_ARG_DIFF_DST, dy);
    backward_.set(DNNL_ARG_WORKSPACE, workspace);
    backward_.set(DNNL_ARG_DIFF_SRC, dx);
    backward_.set(DNNL_ARG_SCRATCHPAD, scratch);
    backward_.run(stream_);
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  TensorDesc output_;
  size_t workspace_bytes_ = 0;
  size_t scratch_bytes_ = 0;
  BoundPrimitive forward_, backward_;
};

}  // namespace

std::unique_ptr<MaxPoolOp> make_max_pool(const MaxPoolParams& params) { return std::make_unique<DnnlMaxPool>(params); }

}  // namespace trainyard::cpu
