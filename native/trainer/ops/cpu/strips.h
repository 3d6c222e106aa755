// How the kernels walk over a tensor, whatever its layout: in strips, which are the pixels of one image at 16, 8 or 1
// neighbouring channels.
#pragma once
#include <cstddef>

#include "trainer/base/parallel.h"
#include "trainer/tensor/tensor_desc.h"

namespace trainyard::cpu {

struct Strip {
  size_t offset;  ///< of the first pixel's first channel
  size_t stride;  ///< elements from one pixel to the next
  size_t rows;    ///< pixels
  size_t image;
  size_t channel;  ///< the first one
};

/// Calls body(strip, std::integral_constant<int, width>) for every strip, over all threads. A strip is one call, so a
/// result per strip does not depend on the number of threads.
template <class Body>
void for_each_strip(const TensorDesc& tensor, const Body& body) {
  const auto pixels = static_cast<size_t>(tensor.shape.pixels());
  const auto block = static_cast<size_t>(tensor.block());
  const auto units = static_cast<size_t>(tensor.shape.n) * tensor.blocks();
  const size_t grain = 8192 / (pixels * block + 1) + 1;
  parallel_for(units, grain, [&](size_t begin, size_t end) {
    for (size_t unit = begin; unit < end; ++unit) {
      const size_t image = unit / tensor.blocks();
      const size_t first = unit % tensor.blocks() * block;
      size_t done = 0;
      while (done < block) {
        const Strip strip{unit * pixels * block + done, block, pixels, image, first + done};
        if (block - done >= 16) {
          body(strip, std::integral_constant<int, 16>());
          done += 16;
        } else if (block - done >= 8) {
          body(strip, std::integral_constant<int, 8>());
          done += 8;
        } else {
          body(strip, std::integral_constant<int, 1>());
          done += 1;
        }
      }
    }
  });
}

/// Vectors of `width` numbers, read and written at any address through packed structures: clang forgets the alignment
/// of a vector type as soon as a template's argument stands in between.
template <int width>
struct Lanes {
  using Float = float __attribute__((vector_size(width * 4)));
  using Double = double __attribute__((vector_size(width * 8)));
  struct __attribute__((packed, may_alias)) FloatAt {
    Float value;
  };
  struct __attribute__((packed, may_alias)) DoubleAt {
    Double value;
  };
  static_assert(alignof(FloatAt) == 1 && alignof(DoubleAt) == 1);
  static const FloatAt& at(const float* p) { return *reinterpret_cast<const FloatAt*>(p); }
  static FloatAt& at(float* p) { return *reinterpret_cast<FloatAt*>(p); }
  static DoubleAt& at(double* p) { return *reinterpret_cast<DoubleAt*>(p); }
};

}  // namespace trainyard::cpu
