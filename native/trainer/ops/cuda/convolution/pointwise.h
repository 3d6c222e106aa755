// Convolutions with a window of one pixel are products. These have kernels of our own, which add up
// what batch norm wants to know: forward of their outputs, backward of the gradients of their
// inputs.
#pragma once
#include "trainer/ops/contract/gradient_end_kind.h"
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

/// d[rows, columns] = a[rows, inner] b[columns, inner]^T: a holds pixels, b packed weights.
struct PointwiseShape {
  unsigned rows, columns, inner;
  bool fp16 = false;  ///< numbers are fp16; else bf16
};

/// How the product is cut. A block of threads keeps the weights of `columns` channels, and takes
/// every steps()-th tile of `rows` pixels.
struct PointwiseTiling {
  unsigned inner;     ///< the only depth that it is for
  unsigned rows;      ///< 64: both warpgroups take the same rows and half of the columns each
  unsigned columns;   ///< of a tile: what divides shape.columns
  unsigned most;      ///< of shape.columns
  unsigned partials;  ///< rows of partial sums of a block: one of each warp with its own rows

  bool operator==(const PointwiseTiling&) const = default;
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
/// Of gradients with an end, by its kind.
inline constexpr PointwiseTiling kInnerGradientTilings[] = {
    {256, 128, 64, 128, 8},
    {512, 128, 64, 128, 8},
};
inline constexpr PointwiseTiling kBlockGradientTilings[] = {
    {64, 64, 256, kAnyColumns, 4},   {64, 128, 128, kAnyColumns, 8},  {128, 64, 256, kAnyColumns, 4},
    {128, 128, 128, kAnyColumns, 8}, {256, 128, 128, kAnyColumns, 8}, {512, 128, 64, kAnyColumns, 8},
};
/// Of `inner` ends with a MergedNorm: the depth is that of the gradient and of the input.
inline constexpr PointwiseTiling kMergedGradientTilings[] = {
    {64 + 256, 128, 64, 128, 8},
    {128 + 512, 128, 64, 128, 8},
};
inline constexpr PointwiseTiling kPairGradientTilings[] = {
    {64, 128, 64, kAnyColumns, 8},
    {128, 128, 64, kAnyColumns, 8},
    {256, 128, 64, kAnyColumns, 8},
    {512, 128, 64, kAnyColumns, 8},
};

/// In `tilings`; what is behind them for a tiling that is not there.
template <class Tiling, size_t kCount>
unsigned index_of(const Tiling (&tilings)[kCount], const Tiling& tiling) {
  unsigned index = 0;
  for (const Tiling& known : tilings) {
    if (known == tiling) break;
    ++index;
  }
  return index;
}

/// The first of `tilings` that takes the product; nullptr where none does.
template <class Tiling, size_t kCount, class Shape = PointwiseShape>
const Tiling* find_tiling(const Tiling (&tilings)[kCount], const Shape& shape, unsigned processors) {
  for (const Tiling& tiling : tilings) {
    if (tiling.takes(shape, processors)) return &tiling;
  }
  return nullptr;
}

/// Forward: nullptr where there is no kernel for such a product.
inline const PointwiseTiling* pointwise_tiling(const PointwiseShape& shape, unsigned processors) {
  return find_tiling(kPointwiseTilings, shape, processors);
}
/// Backward, with such an end of the gradient.
inline const PointwiseTiling* gradient_tiling(const PointwiseShape& shape, GradientEndKind kind, unsigned processors) {
  switch (kind) {
    case GradientEndKind::inner:
      return find_tiling(kInnerGradientTilings, shape, processors);
    case GradientEndKind::block:
    case GradientEndKind::mask:
      return find_tiling(kBlockGradientTilings, shape, processors);
    case GradientEndKind::pair:
      break;
  }
  return find_tiling(kPairGradientTilings, shape, processors);
}

/// tiling: one of kPointwiseTilings. Computes d, rounded to its type, and at `sums` [2,
/// sums_rows(), columns] in fp32: what the pixels of d as they are stored add up to, then their
/// squares. The same bits every time on the same number of processors. For compute capability 9.0
/// alone. a, b, d: 16-byte aligned.
void multiply_pointwise(const Launcher& launcher, const PointwiseTiling& tiling, const PointwiseShape& shape,
                        unsigned processors, const void* a, const void* b, void* d, float* sums);

/// What a MergedNorm adds to a data gradient.
struct PointwiseMerge {
  const void* x = nullptr;      ///< [rows, columns]: the second part of the depth; nullptr: nothing is merged
  const float* bias = nullptr;  ///< [columns], added to the product before it is masked
};

/// What is done to a gradient before it is stored: GradientEnd, for the kernel.
struct PointwiseEnd {
  GradientEndKind kind;
  const void* more;      ///< [rows, columns] another gradient; none of `inner`
  const void* passed;    ///< [rows, columns / 8] bits, 16-byte aligned; none of `inner`
  const void* x[2];      ///< [rows, columns] the inputs of the batch norms
  const float* mean[2];  ///< [columns] of x
  const float* scale;    ///< [columns], as beta of `inner` alone
  const float* beta;
  PointwiseMerge merge{};  ///< of `inner` alone

  unsigned norms() const { return norms_of(kind); }
};

/// tiling: gradient_tiling()'s. g[rows, columns] = a b^T + more where the ReLU passed, else 0,
/// rounded to its type, and at `sums` [1 + norms, sums_rows(), columns] in fp32: what g as it is
/// stored adds up to, then g (x - mean) of each batch norm. g may lie where `more` lies. With
/// end.merge the product is [a, merge.x] b^T + bias: a is [rows, inner - columns] then, b [columns,
/// inner], and the tiling one of kMergedGradientTilings. Otherwise as multiply_pointwise().
void multiply_pointwise_gradient(const Launcher& launcher, const PointwiseTiling& tiling, const PointwiseShape& shape,
                                 unsigned processors, const void* a, const void* b, const PointwiseEnd& end, void* g,
                                 float* sums);

/// Products of pixels: what weight gradients are made of.
struct PixelsShape {
  unsigned rows, out, in;  ///< pixels, and channels of both factors
  bool fp16 = false;       ///< numbers are fp16; else bf16

  unsigned factors() const { return out + in; }
  /// Rows of the result.
  unsigned results() const { return factors() + 1; }
};

/// How they are cut: a block of threads has `columns` of the factors [g, x], and takes every
/// steps()-th chunk of 64 pixels.
struct PixelsTiling {
  unsigned out, in;  ///< the only channels that it is for
  unsigned columns;  ///< of a block: a multiple of 64 that divides out + in

  bool operator==(const PixelsTiling&) const = default;
  bool takes(const PixelsShape& shape, unsigned processors) const {
    return shape.out == out && shape.in == in && across(shape) <= processors;
  }
  unsigned across(const PixelsShape& shape) const { return shape.factors() / columns; }
  unsigned chunks(const PixelsShape& shape) const { return (shape.rows + 63) / 64; }
  /// Blocks that share the pixels of some columns.
  unsigned steps(const PixelsShape& shape, unsigned processors) const {
    const unsigned most = processors / across(shape);
    return most < chunks(shape) ? most : chunks(shape);
  }
  /// Numbers at `partial`.
  size_t partial_numbers(const PixelsShape& shape, unsigned processors) const {
    return size_t{steps(shape, processors)} * shape.results() * shape.in;
  }
};

inline constexpr PixelsTiling kPixelsTilings[] = {{256, 64, 320}, {512, 128, 128}};

/// tiling: one of kPixelsTilings. g [rows, out], x [rows, in]. Computes at `partial` [steps(), out
/// + in + 1, in] in fp32 what the pixels of each step add up to: g^T x, x^T x, and x itself. The
/// same bits every time on the same number of processors. For compute capability 9.0 alone. g, x,
/// partial: 16-byte aligned.
void multiply_pixels(const Launcher& launcher, const PixelsTiling& tiling, const PixelsShape& shape,
                     unsigned processors, const void* g, const void* x, float* partial);

}  // namespace trainyard::cuda
