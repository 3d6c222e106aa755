// Convolutions with a window of one pixel are products. These have a kernel of our own, which adds
// up what batch norm wants to know of their outputs.
#pragma once
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

/// d[rows, columns] = a[rows, inner] b[columns, inner]^T: a holds pixels, b packed weights.
struct PointwiseShape {
  unsigned rows, columns, inner;
};

/// How the product is cut. A block of threads keeps the weights of `columns` channels, and takes
/// every steps()-th tile of `rows` pixels.
struct PointwiseTiling {
  unsigned inner;     ///< the only depth that it is for
  unsigned rows;      ///< 64: both warpgroups take the same rows and half of the columns each
  unsigned columns;   ///< of a tile: what divides shape.columns
  unsigned most;      ///< of shape.columns
  unsigned partials;  ///< rows of partial sums of a block: one of each warp with its own rows

  bool takes(const PointwiseShape& shape, unsigned processors) const {
    return shape.inner == inner && shape.columns % columns == 0 && shape.columns <= most &&
           shape.columns / columns <= processors;
  }
  unsigned tiles(const PointwiseShape& shape) const { return (shape.rows + rows - 1) / rows; }
  /// Blocks beside one another that share the tiles of rows of one tile of columns.
  unsigned steps(const PointwiseShape& shape, unsigned processors) const {
    const unsigned most_steps = processors / (shape.columns / columns);
    return most_steps < tiles(shape) ? most_steps : tiles(shape);
  }
  /// Rows of all partial sums.
  unsigned sums_rows(const PointwiseShape& shape, unsigned processors) const {
    return steps(shape, processors) * partials;
  }
};

/// The fastest first, as measured for resnet50 at batch 256 on an H200 (docs/performance.md).
inline constexpr unsigned kAnyColumns = ~0U;
inline constexpr PointwiseTiling kPointwiseTilings[] = {
    {64, 64, 256, kAnyColumns, 4},   {64, 128, 128, kAnyColumns, 8},  {64, 128, 64, 128, 8},
    {128, 64, 256, kAnyColumns, 4},  {128, 128, 128, kAnyColumns, 8}, {256, 64, 256, kAnyColumns, 4},
    {256, 128, 128, kAnyColumns, 8}, {256, 128, 64, 128, 8},          {512, 128, 64, 128, 8},
    {512, 128, 128, kAnyColumns, 8},
};

/// In kPointwiseTilings; what is behind them for a tiling that is not there.
inline unsigned index_of(const PointwiseTiling& tiling) {
  unsigned index = 0;
  for (const PointwiseTiling& known : kPointwiseTilings) {
    if (known.inner == tiling.inner && known.columns == tiling.columns) break;
    ++index;
  }
  return index;
}

/// nullptr where there is no kernel for such a product.
inline const PointwiseTiling* pointwise_tiling(const PointwiseShape& shape, unsigned processors) {
  for (const PointwiseTiling& tiling : kPointwiseTilings) {
    if (tiling.takes(shape, processors)) return &tiling;
  }
  return nullptr;
}

/// tiling: one of kPointwiseTilings. Computes d, rounded to bf16, and at `sums` [2, sums_rows(),
/// columns] in fp32: what the pixels of d as they are stored add up to, then their squares. The
/// same bits every time on the same number of processors. For compute capability 9.0 alone. a, b,
/// d: bf16, 16-byte aligned.
void multiply_pointwise(const Launcher& launcher, const PointwiseTiling& tiling, const PointwiseShape& shape,
                        unsigned processors, const void* a, const void* b, void* d, float* sums);

}  // namespace trainyard::cuda
