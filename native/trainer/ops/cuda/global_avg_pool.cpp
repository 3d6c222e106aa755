// The mean over all pixels of a channel.
#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/pooling.h"

namespace trainyard::cuda {

namespace {

class CudaGlobalAvgPool final : public GlobalAvgPoolOp {
 public:
  CudaGlobalAvgPool(const Device& device, const TensorDesc& input)
      : device_(device),
        input_(input),
        output_{{input.shape.n, input.shape.c, 1, 1}, Layout::nchw},
        pixels_(static_cast<unsigned>(input.shape.pixels())),
        channels_(static_cast<unsigned>(input.shape.c)) {
    require_channels_last(device, input, "global average pooling");
  }

  const TensorDesc& output() const override { return output_; }

  void forward(const void* x, void* y) override {
    each(device_.launcher, output_.elements(),
         GlobalAverage{static_cast<const float*>(x), static_cast<float*>(y), pixels_, channels_});
  }

  void backward(const void* dy, void* dx) override {
    each(device_.launcher, input_.elements(),
         GlobalAverageGradient{static_cast<const float*>(dy), static_cast<float*>(dx), pixels_, channels_});
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
