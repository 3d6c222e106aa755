// Max pooling: forward notes each window's winner in a byte, backward gathers.
#include "common/error.h"
#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/pooling_wide.h"

namespace trainyard::cuda {

namespace {

class CudaMaxPool final : public MaxPoolOp {
 public:
  CudaMaxPool(const Device& device, const MaxPoolParams& p) : device_(device), input_(p.input), training_(p.training) {
    require_channels_last(device, p.input, "max pooling");
    const Shape& in = p.input.shape;
    const auto size = [&](int extent) { return (extent + 2 * p.pad - p.kernel) / p.stride + 1; };
    output_ = {{in.n, in.c, size(in.h), size(in.w)}, p.input.layout, p.input.dtype};
    const bool fits = in.h + 2 * p.pad >= p.kernel && in.w + 2 * p.pad >= p.kernel;
    if (!fits) {
      device.fail(static_cast<int>(Exit::usage),
                  "Pooling does not fit an input of " + to_string(in) + ". Use a larger --image-size.");
    }
    constexpr int kLargest = 15;  // so that a place in the window fits a byte
    if (p.kernel > kLargest || 2 * p.pad > p.kernel) {
      device.fail(static_cast<int>(Exit::internal),
                  "The CUDA back end pools windows of at most 15 pixels, half of them padding. Report it.");
    }
    shape_ = {static_cast<unsigned>(in.c), in.h, in.w, output_.shape.h, output_.shape.w, p.kernel, p.stride, p.pad};
  }

  const TensorDesc& output() const override { return output_; }
  size_t workspace_bytes() const override { return training_ ? output_.elements() : 0; }
  size_t scratch_bytes() const override { return 0; }

  void forward(const void* x, void* y, void* workspace, void* /*scratch*/) override {
    auto* winner = training_ ? static_cast<uint8_t*>(workspace) : nullptr;
    with_stored(input_.dtype, [&]<class T>(T) {
      const auto* from = static_cast<const T*>(x);
      auto* to = static_cast<T*>(y);
      const size_t count = output_.elements();
      if (!device_.takes_wide<T>(shape_.channels)) {
        each(device_.launcher, count, MaxPool<T>{shape_, from, to, winner});
      } else if (shape_.kernel == 3) {
        each(device_.launcher, count / kWide<T>, MaxPoolWide<T, 3>{shape_, from, to, winner});
      } else {
        each(device_.launcher, count / kWide<T>, MaxPoolWide<T, 0>{shape_, from, to, winner});
      }
    });
  }

  void backward(const void* dy, const void* workspace, void* dx, void* /*scratch*/) override {
    const auto* winner = static_cast<const uint8_t*>(workspace);
    with_stored(input_.dtype, [&]<class T>(T) {
      const auto* from = static_cast<const T*>(dy);
      auto* to = static_cast<T*>(dx);
      const size_t count = input_.elements();
      if (!device_.takes_wide<T>(shape_.channels)) {
        each(device_.launcher, count, MaxPoolGradient<T>{shape_, from, winner, to});
      } else if (shape_.kernel == 3 && shape_.stride == 2) {
        each(device_.launcher, count / kWide<T>, MaxPoolGradientWide<T, 3, 2>{shape_, from, winner, to});
      } else {
        each(device_.launcher, count / kWide<T>, MaxPoolGradientWide<T, 0, 0>{shape_, from, winner, to});
      }
    });
  }

 private:
  const Device& device_;
  TensorDesc input_;   // [n, c, h, w]
  TensorDesc output_;  // [n, c, h', w']
  bool training_;
  PoolShape shape_{};
};

}  // namespace

std::unique_ptr<MaxPoolOp> make_max_pool(const Device& device, const MaxPoolParams& params) {
  return std::make_unique<CudaMaxPool>(device, params);
}

}  // namespace trainyard::cuda
