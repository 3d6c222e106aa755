// Dropout.
#include "trainer/ops/cuda/math/dropout.h"

#include "trainer/ops/cpu/makers.h"
#include "trainer/ops/cpu/strips.h"

namespace trainyard::cpu {

namespace {

template <class T>  // in which activations are stored
class CpuDropout final : public DropoutOp {
 public:
  explicit CpuDropout(const DropoutParams& p)
      : mask_(
            cuda::DropoutMask::of(p.key, p.rate, static_cast<unsigned>(p.tensor.shape.elements() / p.tensor.shape.n))),
        scale_(1.0F / (1.0F - p.rate)),
        elements_(p.tensor.elements()) {}

  void run(const void* from, void* to, const uint64_t* first_image) override {
    const cuda::Dropout<T> each{mask_, first_image, scale_, static_cast<const T*>(from), static_cast<T*>(to)};
    parallel_for(elements_, 4096, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) each(static_cast<unsigned>(i));
    });
  }

 private:
  cuda::DropoutMask mask_;
  float scale_;
  size_t elements_;
};

}  // namespace

std::unique_ptr<DropoutOp> make_dropout(const DropoutParams& params) {
  return with_storage(params.tensor.dtype, [&]<class T>(T) -> std::unique_ptr<DropoutOp> {
    return std::make_unique<CpuDropout<T>>(params);
  });
}

}  // namespace trainyard::cpu
