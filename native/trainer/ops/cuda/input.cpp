// From the loader's bytes to normalised activations: the bytes go to the device, a quarter of what floats would be.
#include <algorithm>

#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/elementwise.h"

namespace trainyard::cuda {

namespace {

class CudaInput final : public InputOp {
 public:
  CudaInput(const Device& device, const TensorDesc& output, const std::array<float, 3>& mean,
            const std::array<float, 3>& std)
      : device_(device),
        output_(output),
        bytes_(device.memory->allocate(output.elements())),
        mean_(mean),
        deviation_(std) {
    if (output.layout != Layout::nchw) require_channels_last(device, output, "input");
  }

  void forward(const uint8_t* images, int count, void* y) override {
    const size_t present = output_.elements() / static_cast<size_t>(output_.shape.n) * static_cast<size_t>(count);
    device_.memory->from_host(bytes_->data(), images, present);
    with_stored(output_.dtype, [&]<class T>(T) {
      InputNormalise<T> run{};
      run.images = reinterpret_cast<const uint8_t*>(bytes_->data());
      run.y = static_cast<T*>(y);
      run.present = static_cast<unsigned>(present);
      run.pixels = static_cast<unsigned>(output_.shape.pixels());
      run.planar = output_.layout == Layout::nchw;
      std::copy(mean_.begin(), mean_.end(), run.mean);
      std::copy(deviation_.begin(), deviation_.end(), run.deviation);
      each(device_.launcher, output_.elements(), run);
    });
  }

 private:
  const Device& device_;
  TensorDesc output_;                     // [n, 3, h, w]
  std::unique_ptr<BackendMemory> bytes_;  // [n, h, w, 3]
  std::array<float, 3> mean_, deviation_;
};

}  // namespace

std::unique_ptr<InputOp> make_input(const Device& device, const TensorDesc& output, const std::array<float, 3>& mean,
                                    const std::array<float, 3>& std) {
  return std::make_unique<CudaInput>(device, output, mean, std);
}

}  // namespace trainyard::cuda
