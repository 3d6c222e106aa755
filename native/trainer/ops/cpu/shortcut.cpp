// The shortcut without parameters, and the sum of two tensors.
#include <algorithm>
#include <cstring>

#include "trainer/base/parallel.h"
#include "trainer/ops/cpu/makers.h"
#include "trainer/ops/cpu/strips.h"

namespace trainyard::cpu {

namespace {

template <class T>  // in which activations are stored
class CpuShortcut final : public ShortcutOp {
 public:
  CpuShortcut(const TensorDesc& input, int out_channels, int stride) : input_(input), stride_(stride) {
    const Shape& in = input.shape;
    output_ = {{in.n, out_channels, (in.h - 1) / stride + 1, (in.w - 1) / stride + 1}, input.layout, input.dtype};
  }

  const TensorDesc& output() const override { return output_; }

  void forward(const void* x, void* y) override {
    const auto* in = static_cast<const T*>(x);
    auto* out = static_cast<T*>(y);
    each_unit([&](size_t n, int k) {
      T* to = out + unit(output_, n, k);
      const int width = output_.block();
      const int copied = k < input_.blocks() ? std::min(width, input_.block()) : 0;
      const T* from = copied > 0 ? in + unit(input_, n, k) : nullptr;
      each_pixel([&](size_t small, size_t large) {
        T* pixel = to + small * width;
        if (copied > 0) std::memcpy(pixel, from + large * input_.block(), size_t(copied) * sizeof(T));
        std::fill(pixel + copied, pixel + width, T());
      });
    });
  }

  void backward(const void* dy, void* dx) override {
    const auto* out = static_cast<const T*>(dy);
    auto* in = static_cast<T*>(dx);
    each_unit([&](size_t n, int k) {
      if (k >= input_.blocks()) return;
      const int width = input_.block();
      T* to = in + unit(input_, n, k);
      const T* from = out + unit(output_, n, k);
      const int copied = std::min(width, input_.shape.c - k * width);  // the padding stays zero
      std::memset(to, 0, static_cast<size_t>(input_.shape.pixels()) * width * sizeof(T));
      each_pixel([&](size_t small, size_t large) {
        std::memcpy(to + large * width, from + small * output_.block(), size_t(copied) * sizeof(T));
      });
    });
  }

 private:
  static size_t unit(const TensorDesc& tensor, size_t n, int k) {
    return (n * tensor.blocks() + k) * static_cast<size_t>(tensor.shape.pixels()) * tensor.block();
  }

  template <class Body>
  void each_unit(const Body& body) const {
    const auto blocks = static_cast<size_t>(output_.blocks());
    parallel_for(static_cast<size_t>(output_.shape.n) * blocks, 4, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) body(i / blocks, static_cast<int>(i % blocks));
    });
  }

  template <class Body>
  void each_pixel(const Body& body) const {
    for (int h = 0; h < output_.shape.h; ++h) {
      for (int w = 0; w < output_.shape.w; ++w) {
        body(size_t(h) * output_.shape.w + w, size_t(h) * stride_ * input_.shape.w + size_t(w) * stride_);
      }
    }
  }

  TensorDesc input_;   // [n, c, h, w]
  TensorDesc output_;  // [n, out_channels, ceil(h/stride), ceil(w/stride)]
  int stride_;
};

template <class T>
class CpuAdd final : public AddOp {
 public:
  explicit CpuAdd(const TensorDesc& tensor) : elements_(tensor.elements()) {}

  void run(void* to, const void* from) override {
    auto* sum = static_cast<T*>(to);
    const auto* other = static_cast<const T*>(from);
    parallel_for(elements_, 16384, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) sum[i] = T(static_cast<float>(sum[i]) + static_cast<float>(other[i]));
    });
  }

 private:
  size_t elements_;
};

}  // namespace

std::unique_ptr<ShortcutOp> make_shortcut(const TensorDesc& input, int out_channels, int stride) {
  return with_storage(input.dtype, [&]<class T>(T) -> std::unique_ptr<ShortcutOp> {
    return std::make_unique<CpuShortcut<T>>(input, out_channels, stride);
  });
}

std::unique_ptr<AddOp> make_add(const TensorDesc& tensor) {
  return with_storage(tensor.dtype,
                      [&]<class T>(T) -> std::unique_ptr<AddOp> { return std::make_unique<CpuAdd<T>>(tensor); });
}

}  // namespace trainyard::cpu
