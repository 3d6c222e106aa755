#include "trainer/ops/cpu/columns_gradient.h"

#include <algorithm>

#include "trainer/base/parallel.h"
#include "trainer/ops/cpu/matrix_product.h"

namespace trainyard::cpu {

namespace {

/// What the columns of a group take at most, but for one image.
constexpr size_t kGroupBytes = size_t{16} << 20;

}  // namespace

ColumnsGradient::ColumnsGradient(const Conv2dParams& params) : p_(params), out_(params.output_shape()) {
  const size_t image = sizeof(float) * static_cast<size_t>(out_.pixels()) * row();
  group_ = static_cast<int>(std::clamp<size_t>(kGroupBytes / image, 1, p_.input.shape.n));
}

size_t ColumnsGradient::columns_bytes() const {
  return sizeof(float) * group_ * static_cast<size_t>(out_.pixels()) * row();
}

void ColumnsGradient::run(const float* x, const float* dy, float* dw, float* columns) const {
  const int pixels = static_cast<int>(out_.pixels());
  for (int first = 0; first < out_.n; first += group_) {
    const int images = std::min(group_, out_.n - first);
    gather(x, first, images, columns);
    multiply({.transpose_a = true, .add = first > 0}, out_.c, row(), images * pixels,
             dy + size_t(first) * pixels * out_.c, columns, dw);
  }
}

void ColumnsGradient::gather(const float* x, int first, int images, float* columns) const {
  const Shape& in = p_.input.shape;
  const size_t pixels = static_cast<size_t>(out_.pixels());
  parallel_for(images * pixels, 1, [&](size_t begin, size_t end) {
    for (size_t at = begin; at < end; ++at) {
      const float* image = x + (first + at / pixels) * in.c * in.h * in.w;
      const int top = static_cast<int>(at % pixels) / out_.w * p_.stride_h - p_.pad_h;
      const int left = static_cast<int>(at % pixels) % out_.w * p_.stride_w - p_.pad_w;
      float* to = columns + at * row();
      for (int c = 0; c < in.c; ++c) {
        for (int y = top; y < top + p_.kernel_h; ++y) {
          for (int column = left; column < left + p_.kernel_w; ++column) {
            const bool inside = y >= 0 && y < in.h && column >= 0 && column < in.w;
            *to++ = inside ? image[(size_t(c) * in.h + y) * in.w + column] : 0.0F;
          }
        }
      }
    }
  });
}

}  // namespace trainyard::cpu
