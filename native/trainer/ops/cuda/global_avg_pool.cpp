// The mean over all pixels of a channel.
#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/pooling_wide.h"

namespace trainyard::cuda {

namespace {

class CudaGlobalAvgPool final : public GlobalAvgPoolOp {
 public:
  CudaGlobalAvgPool(const Device& device, const TensorDesc& input)
      : device_(device),
        input_(input),
        output_{{input.shape.n, input.shape.c, 1, 1}, Layout::nchw, input.dtype},
        pixels_(static_cast<unsigned>(input.shape.pixels())),
        channels_(static_cast<unsigned>(input.shape.c)) {
    require_channels_last(device, input, "global average pooling");
  }

  const TensorDesc& output() const override { return output_; }

  void forward(const void* x, void* y) override {
    with_stored(input_.dtype, [&]<class T>(T) {
      const auto* from = static_cast<const T*>(x);
      auto* to = static_cast<T*>(y);
      const size_t count = output_.elements();
      device_.takes_wide<T>(channels_)
          ? each(device_.launcher, count / kWide<T>, GlobalAverageWide<T>{from, to, pixels_, channels_})
          : each(device_.launcher, count, GlobalAverage<T>{from, to, pixels_, channels_});
    });
  }

  void backward(const void* dy, void* dx) override {
    with_stored(input_.dtype, [&]<class T>(T) {
      const auto* from = static_cast<const T*>(dy);
      auto* to = static_cast<T*>(dx);
      const size_t count = input_.elements();
      device_.takes_wide<T>(channels_)
          ? each(device_.launcher, count / kWide<T>, GlobalAverageGradientWide<T>{from, to, pixels_, channels_})
          : each(device_.launcher, count, GlobalAverageGradient<T>{from, to, pixels_, channels_});
    });
  }

 private:
  const Device& device_;
  TensorDesc input_;   // [n, c, h, w]
  TensorDesc output_;  // [n, c, 1, 1]
  unsigned pixels_, channels_;
};

}  // namespace

std::unique_ptr<GlobalAvgPoolOp> make_global_avg_pool(const Device& device, const TensorDesc& input) {
  return std::make_unique<CudaGlobalAvgPool>(device, input);
}

}  // namespace trainyard::cuda
