// The mean over all pixels of a channel.
#include <algorithm>

#include "trainer/ops/cpu/makers.h"
#include "trainer/ops/cpu/strips.h"

namespace trainyard::cpu {

namespace {

template <class T>  // in which activations are stored
class CpuGlobalAvgPool final : public GlobalAvgPoolOp {
 public:
  explicit CpuGlobalAvgPool(const TensorDesc& input)
      : input_(input), output_{{input.shape.n, input.shape.c, 1, 1}, Layout::nchw, input.dtype} {}

  const TensorDesc& output() const override { return output_; }

  void forward(const void* x, void* y) override {
    const auto* in = static_cast<const T*>(x);
    auto* out = static_cast<T*>(y);
    const double count = static_cast<double>(input_.shape.pixels());
    for_each_strip(
        input_,
        [&](const Strip& s, auto width) {
          using L = Lanes<width>;
          typename L::Double total{};
          for (size_t r = 0; r < s.rows; ++r) {
            total += __builtin_convertvector(L::load(in + s.offset + r * s.stride).value, typename L::Double);
          }
          double sums[width];
          L::at(sums).value = total;
          for (size_t i = 0; i < real_channels(s, width); ++i)
            out[output_at(s) + i] = T(static_cast<float>(sums[i] / count));
        },
        kWhole);
  }

  void backward(const void* dy, void* dx) override {
    const auto* out = static_cast<const T*>(dy);
    auto* in = static_cast<T*>(dx);
    const auto count = static_cast<float>(input_.shape.pixels());
    for_each_strip(input_, [&](const Strip& s, auto width) {
      using L = Lanes<width>;
      float values[width] = {};  // the padding stays zero
      for (size_t i = 0; i < real_channels(s, width); ++i)
        values[i] = static_cast<float>(out[output_at(s) + i]) / count;
      const typename L::Float value = L::load(values).value;
      for (size_t r = 0; r < s.rows; ++r) L::store(in + s.offset + r * s.stride, value);
    });
  }

 private:
  size_t output_at(const Strip& s) const { return s.image * static_cast<size_t>(output_.shape.c) + s.channel; }
  size_t real_channels(const Strip& s, size_t width) const {
    const auto channels = static_cast<size_t>(input_.shape.c);
    return s.channel >= channels ? 0 : std::min(width, channels - s.channel);
  }

  TensorDesc input_;   // [n, c, h, w]
  TensorDesc output_;  // [n, c, 1, 1]
};

}  // namespace

std::unique_ptr<GlobalAvgPoolOp> make_global_avg_pool(const TensorDesc& input) {
  return with_storage(input.dtype, [&]<class T>(T) -> std::unique_ptr<GlobalAvgPoolOp> {
    return std::make_unique<CpuGlobalAvgPool<T>>(input);
  });
}

}  // namespace trainyard::cpu
