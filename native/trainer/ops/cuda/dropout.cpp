// Dropout.
#include "trainer/ops/cuda/math/dropout.h"

#include "trainer/ops/cuda/makers.h"

namespace trainyard::cuda {

namespace {

class CudaDropout final : public DropoutOp {
 public:
  CudaDropout(const Device& device, const DropoutParams& p)
      : device_(device),
        mask_(DropoutMask::of(p.key, p.rate, static_cast<unsigned>(p.tensor.shape.elements() / p.tensor.shape.n))),
        scale_(1.0F / (1.0F - p.rate)),
        elements_(p.tensor.elements()),
        dtype_(p.tensor.dtype) {}

  void run(const void* from, void* to, const uint64_t* first_image) override {
    with_stored(dtype_, [&]<class T>(T) {
      each(device_.launcher, elements_,
           Dropout<T>{mask_, first_image, scale_, static_cast<const T*>(from), static_cast<T*>(to)});
    });
  }

 private:
  const Device& device_;
  DropoutMask mask_;
  float scale_;
  size_t elements_;
  DType dtype_;
};

}  // namespace

std::unique_ptr<DropoutOp> make_dropout(const Device& device, const DropoutParams& params) {
  return std::make_unique<CudaDropout>(device, params);
}

}  // namespace trainyard::cuda
