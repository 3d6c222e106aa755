// Dropout.
#include "trainer/ops/cuda/math/dropout.h"

#include "trainer/base/parallel.h"
#include "trainer/ops/cpu/makers.h"

namespace trainyard::cpu {

namespace {

class CpuDropout final : public DropoutOp {
 public:
  explicit CpuDropout(const DropoutParams& p)
      : mask_(
            cuda::DropoutMask::of(p.key, p.rate, static_cast<unsigned>(p.tensor.shape.elements() / p.tensor.shape.n))),
        scale_(1.0F / (1.0F - p.rate)),
        elements_(p.tensor.elements()) {}

  void run(const void* from, void* to, uint64_t first_image) override {
    const cuda::Dropout each{mask_, first_image, scale_, static_cast<const float*>(from), static_cast<float*>(to)};
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

std::unique_ptr<DropoutOp> make_dropout(const DropoutParams& params) { return std::make_unique<CpuDropout>(params); }

}  // namespace trainyard::cpu
