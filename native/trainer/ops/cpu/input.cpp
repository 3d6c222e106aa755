// From bytes to normalised activations.
#include <cstring>

#include "trainer/base/parallel.h"
#include "trainer/ops/cpu/makers.h"
#include "trainer/ops/cpu/strips.h"

namespace trainyard::cpu {

namespace {

template <class T>  // in which activations are stored
class CpuInput final : public InputOp {
 public:
  CpuInput(const TensorDesc& output, const std::array<float, 3>& mean, const std::array<float, 3>& std)
      : output_(output) {
    // The operations of torchvision's ToTensor and Normalize in their order, so that the
    // activations are the same bits.
    for (size_t c = 0; c < 3; ++c) {
      for (size_t value = 0; value < 256; ++value) {
        table_[c][value] = T((static_cast<float>(value) / 255.0F - mean[c]) / std[c]);
      }
    }
  }

  void forward(const uint8_t* images, int count, void* y) override {
    const size_t pixels = static_cast<size_t>(output_.shape.pixels());
    const size_t image = output_.elements() / static_cast<size_t>(output_.shape.n);
    auto* out = static_cast<T*>(y);
    parallel_for(static_cast<size_t>(output_.shape.n), 1, [&](size_t begin, size_t end) {
      for (size_t n = begin; n < end; ++n) {
        // Images that are not there, and the padding of blocked channels, are zeros.
        if (n >= static_cast<size_t>(count) || output_.padded_channels() != 3) {
          std::memset(out + n * image, 0, image * sizeof(T));
        }
        if (n >= static_cast<size_t>(count)) continue;
        if (output_.index(0, 1, 0, 0) == 1) {
          fill_interleaved(images + n * pixels * 3, pixels, out + n * image);
          continue;
        }
        for (int c = 0; c < 3; ++c) {
          const T* table = table_[static_cast<size_t>(c)].data();
          const uint8_t* from = images + n * pixels * 3 + c;
          T* to = out + n * image + output_.index(0, c, 0, 0);
          const auto step = static_cast<size_t>(output_.block());
          for (size_t p = 0; p < pixels; ++p) to[p * step] = table[from[p * 3]];
        }
      }
    });
  }

 private:
  /// Where the channels of a pixel lie beside one another: one walk through both, rather than one a
  /// channel.
  void fill_interleaved(const uint8_t* from, size_t pixels, T* to) const {
    const auto step = static_cast<size_t>(output_.block());
    for (size_t p = 0; p < pixels; ++p, from += 3, to += step) {
      for (size_t c = 0; c < 3; ++c) to[c] = table_[c][from[c]];
    }
  }

  TensorDesc output_;  // [n, 3, h, w]
  std::array<std::array<T, 256>, 3> table_{};
};

}  // namespace

std::unique_ptr<InputOp> make_input(const TensorDesc& output, const std::array<float, 3>& mean,
                                    const std::array<float, 3>& std) {
  return with_storage(output.dtype, [&]<class T>(T) -> std::unique_ptr<InputOp> {
    return std::make_unique<CpuInput<T>>(output, mean, std);
  });
}

}  // namespace trainyard::cpu
