// Average pooling of bf16, summed in fp32: oneDNN's adds the gradients of overlapping windows up in
// bf16.
#include <algorithm>
#include <vector>

#include "trainer/base/parallel.h"
#include "trainer/ops/cpu/makers.h"

namespace trainyard::cpu {

namespace {

class Bf16AvgPool final : public AvgPoolOp {
 public:
  explicit Bf16AvgPool(const AvgPoolParams& p)
      : p_(p), output_(avg_pool_output(p)), share_(1.0F / static_cast<float>(p.kernel * p.kernel)) {}

  const TensorDesc& output() const override { return output_; }
  size_t scratch_bytes() const override { return 0; }

  void forward(const void* x, void* y, void* /*scratch*/) override {
    const Shape& in = p_.input.shape;
    each_pixel(p_.input, output_, x, y, [&](int h, int w, const auto& add) {
      const int top = h * p_.stride - p_.pad;
      const int left = w * p_.stride - p_.pad;
      for (int i = std::max(top, 0); i < std::min(top + p_.kernel, in.h); ++i) {
        for (int j = std::max(left, 0); j < std::min(left + p_.kernel, in.w); ++j) add(i, j);
      }
    });
  }

  /// Every pixel gathers from the windows that hold it.
  void backward(const void* dy, void* dx, void* /*scratch*/) override {
    const auto first = [&](int at) { return std::max((at + p_.pad - p_.kernel + p_.stride) / p_.stride, 0); };
    const auto last = [&](int at, int size) { return std::min((at + p_.pad) / p_.stride, size - 1); };
    each_pixel(output_, p_.input, dy, dx, [&](int h, int w, const auto& add) {
      for (int i = first(h); i <= last(h, output_.shape.h); ++i) {
        for (int j = first(w); j <= last(w, output_.shape.w); ++j) add(i, j);
      }
    });
  }

 private:
  /// For each pixel of `to`, the sum of those pixels of `from` which `gather(h, w, add)` names,
  /// over the window's size.
  template <class Gather>
  void each_pixel(const TensorDesc& from, const TensorDesc& to, const void* values, void* means,
                  const Gather& gather) const {
    const auto block = static_cast<size_t>(to.block());
    const auto pixels = static_cast<size_t>(to.shape.pixels());
    const size_t units = static_cast<size_t>(to.shape.n) * static_cast<size_t>(to.blocks());
    parallel_for(units * pixels, 8192 / block + 1, [&](size_t begin, size_t end) {
      std::vector<float> sums(block);
      for (size_t i = begin; i < end; ++i) {
        const auto* unit = static_cast<const BFloat16*>(values) + i / pixels * from.shape.pixels() * block;
        const int h = static_cast<int>(i % pixels) / to.shape.w;
        const int w = static_cast<int>(i % pixels) % to.shape.w;
        std::fill(sums.begin(), sums.end(), 0.0F);
        gather(h, w, [&](int row, int column) {
          const BFloat16* pixel = unit + (size_t(row) * from.shape.w + column) * block;
          for (size_t c = 0; c < block; ++c) sums[c] += static_cast<float>(pixel[c]);
        });
        BFloat16* mean = static_cast<BFloat16*>(means) + i * block;
        for (size_t c = 0; c < block; ++c) mean[c] = BFloat16(sums[c] * share_);
      }
    });
  }

  AvgPoolParams p_;
  TensorDesc output_;  // [n, c, h', w']
  float share_;        // of an element in its window's mean
};

}  // namespace

std::unique_ptr<AvgPoolOp> make_avg_pool_bf16(const AvgPoolParams& params) {
  return std::make_unique<Bf16AvgPool>(params);
}

}  // namespace trainyard::cpu
