// From the loader's bytes to normalised activations: the bytes go to the device, a quarter of what
// floats would be, those of the next step while this one runs.
#include <algorithm>
#include <optional>
#include <utility>

#include "common/error.h"
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
        uploads_(device.make_uploads(output.elements())),
        mean_(mean),
        deviation_(std) {
    if (output.layout != Layout::nchw) require_channels_last(device, output, "input");
  }

  void prefetch(const uint8_t* images, int count) override {
    if (ahead_) device_.fail(static_cast<int>(Exit::internal), "Images were brought twice for one step. Report it.");
    uploads_->start(images, bytes_of(count));
    ahead_ = {images, count};
  }

  void forward(const uint8_t* images, int count, void* y) override {
    if (!ahead_) prefetch(images, count);
    if (*std::exchange(ahead_, std::nullopt) != std::pair{images, count}) {
      device_.fail(static_cast<int>(Exit::internal), "Other images were brought than the step has. Report it.");
    }
    const size_t present = bytes_of(count);
    const std::byte* bytes = uploads_->take();
    with_stored(output_.dtype, [&]<class T>(T) {
      InputNormalise<T> run{};
      run.images = reinterpret_cast<const uint8_t*>(bytes);
      run.y = static_cast<T*>(y);
      run.present = static_cast<unsigned>(present);
      run.pixels = static_cast<unsigned>(output_.shape.pixels());
      run.planar = output_.layout == Layout::nchw;
      std::copy(mean_.begin(), mean_.end(), run.mean);
      std::copy(deviation_.begin(), deviation_.end(), run.deviation);
      each(device_.launcher, output_.elements(), run);
    });
    uploads_->done();
  }

 private:
  size_t bytes_of(int count) const {
    return output_.elements() / static_cast<size_t>(output_.shape.n) * static_cast<size_t>(count);
  }

  const Device& device_;
  TensorDesc output_;                                    // [n, 3, h, w]
  std::unique_ptr<Uploads> uploads_;                     // of [n, h, w, 3]
  std::optional<std::pair<const uint8_t*, int>> ahead_;  // what was brought and not yet used
  std::array<float, 3> mean_, deviation_;
};

}  // namespace

std::unique_ptr<InputOp> make_input(const Device& device, const TensorDesc& output, const std::array<float, 3>& mean,
                                    const std::array<float, 3>& std) {
  return std::make_unique<CudaInput>(device, output, mean, std);
}

}  // namespace trainyard::cuda
