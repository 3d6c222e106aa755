// Our products as loops: sums of d in double, and partial sums in fp32 as the blocks of the kernel
// write them, each over the tiles of its own.
#include <algorithm>

#include "tests/ops/tape.h"
#include "trainer/ops/cuda/pointwise.h"
#include "trainer/tensor/dtype.h"

namespace trainyard::cuda {

namespace {

void multiply(const PointwiseTiling& tiling, const PointwiseShape& shape, unsigned processors, const BFloat16* a,
              const BFloat16* b, BFloat16* d, float* sums) {
  const size_t columns = shape.columns;
  const unsigned steps = tiling.steps(shape, processors);
  const size_t all = size_t{tiling.sums_rows(shape, processors)} * columns;
  std::fill(sums, sums + 2 * all, 0.0F);
  for (size_t r = 0; r < shape.rows; ++r) {
    // A warp has 16 rows of a tile.
    const size_t row = r / tiling.rows % steps * tiling.partials + r % tiling.rows / 16;
    for (size_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (size_t k = 0; k < shape.inner; ++k) {
        sum += double{static_cast<float>(a[r * shape.inner + k])} * double{static_cast<float>(b[c * shape.inner + k])};
      }
      const auto stored = static_cast<BFloat16>(static_cast<float>(sum));
      d[r * columns + c] = stored;
      const auto value = static_cast<float>(stored);
      sums[row * columns + c] += value;
      sums[all + row * columns + c] += value * value;
    }
  }
}

}  // namespace

void multiply_pointwise(const Launcher& launcher, const PointwiseTiling& tiling, const PointwiseShape& shape,
                        unsigned processors, const void* a, const void* b, void* d, float* sums) {
  test::Tape* tape = test::Tape::of(launcher);
  const auto product = [=] {
    multiply(tiling, shape, processors, static_cast<const BFloat16*>(a), static_cast<const BFloat16*>(b),
             static_cast<BFloat16*>(d), sums);
    if (tape != nullptr && tape->spoil) tape->spoil({tiling, shape, processors, static_cast<BFloat16*>(d), sums});
  };
  const size_t numbers = (size_t{shape.rows} + shape.columns) * shape.inner + size_t{shape.rows} * shape.columns;
  const size_t bytes =
      numbers * sizeof(BFloat16) + 2 * sizeof(float) * tiling.sums_rows(shape, processors) * shape.columns;
  tape != nullptr ? tape->run(product, "convolution: forward with sums", bytes) : product();
}

}  // namespace trainyard::cuda
