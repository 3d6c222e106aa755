// Average pooling: backward gathers.
#include "common/error.h"
#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/pooling.h"

namespace trainyard::cuda {

namespace {

class CudaAvgPool final : public AvgPoolOp {
 public:
  CudaAvgPool(const Device& device, const AvgPoolParams& p) : device_(device), input_(p.input) {
    require_channels_last(device, p.input, "average pooling");
    const Shape& in = p.input.shape;
    if (in.h + 2 * p.pad < p.kernel || in.w + 2 * p.pad < p.kernel) {
      device.fail(static_cast<int>(Exit::usage),
                  "Pooling does not fit an input of " + to_string(in) + ". Use a larger --image-size.");
    }
    const auto size = [&](int extent) { return (extent + 2 * p.pad - p.kernel) / p.stride + 1; };
    output_ = {{in.n, in.c, size(in.h), size(in.w)}, p.input.layout, p.input.dtype};
    shape_ = {static_cast<unsigned>(in.c), in.h, in.w, output_.shape.h, output_.shape.w, p.kernel, p.stride, p.pad};
  }

  const TensorDesc& output() const override { return output_; }
  size_t scratch_bytes() const override { return 0; }

  void forward(const void* x, void* y, void* /*scratch*/) override {
    with_stored(input_.dtype, [&]<class T>(T) {
      each(device_.launcher, output_.elements(), AvgPool<T>{shape_, static_cast<const T*>(x), static_cast<T*>(y)});
    });
  }

  void backward(const void* dy, void* dx, void* /*scratch*/) override {
    with_stored(input_.dtype, [&]<class T>(T) {
      each(device_.launcher, input_.elements(),
           AvgPoolGradient<T>{shape_, static_cast<const T*>(dy), static_cast<T*>(dx)});
    });
  }

 private:
  const Device& device_;
  TensorDesc input_;   // [n, c, h, w]
  TensorDesc output_;  // [n, c, h', w']
  PoolShape shape_{};
};

}  // namespace

std::unique_ptr<AvgPoolOp> make_avg_pool(const Device& device, const AvgPoolParams& params) {
  return std::make_unique<CudaAvgPool>(device, params);
}

}  // namespace trainyard::cuda
