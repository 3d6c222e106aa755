// Our products of pixels as loops: sums in double, stored in fp32, over the pixels of each step as
// the blocks of the kernel share them.
#include <algorithm>
#include <vector>

#include "tests/ops/host/tape.h"
#include "trainer/ops/cuda/convolution/pointwise.h"
#include "trainer/tensor/dtype.h"

namespace trainyard::cuda {

namespace {

/// For all steps. g [rows, out], x [rows, in]; partial [steps, out + in + 1, in].
template <class T>
void multiply(const PixelsTiling& tiling, const PixelsShape& shape, unsigned processors, const T* g, const T* x,
              float* partial) {
  const size_t in = shape.in;
  const size_t steps = tiling.steps(shape, processors);
  for (size_t step = 0; step < steps; ++step) {
    std::vector<double> sums(shape.results() * in);
    for (size_t r = 0; r < shape.rows; ++r) {
      if (r / 64 % steps != step) continue;
      for (size_t f = 0; f < shape.results(); ++f) {
        double factor = 1;
        if (f < shape.out) {
          factor = double{static_cast<float>(g[r * shape.out + f])};
        } else if (f < shape.factors()) {
          factor = double{static_cast<float>(x[r * in + f - shape.out])};
        }
        for (size_t c = 0; c < in; ++c) sums[f * in + c] += factor * double{static_cast<float>(x[r * in + c])};
      }
    }
    std::ranges::transform(sums, partial + step * sums.size(), [](double sum) { return static_cast<float>(sum); });
  }
}

}  // namespace

void multiply_pixels(const Launcher& launcher, const PixelsTiling& tiling, const PixelsShape& shape,
                     unsigned processors, const void* g, const void* x, float* partial) {
  test::Tape* tape = test::Tape::of(launcher);
  const auto body = [=] {
    const auto run = [&]<class T>(T) {
      multiply(tiling, shape, processors, static_cast<const T*>(g), static_cast<const T*>(x), partial);
    };
    shape.fp16 ? run(Float16{}) : run(BFloat16{});
    if (tape != nullptr && tape->spoil_pixels) tape->spoil_pixels({tiling, shape, processors, partial});
  };
  if (tape == nullptr) return body();
  const size_t read = size_t{shape.rows} * shape.factors();
  tape->run(body, "convolution: weight gradients with a batch norm's",
            read * sizeof(BFloat16) + tiling.partial_numbers(shape, processors) * sizeof(float));
}

}  // namespace trainyard::cuda
