// A batch norm's gradient merged into the convolution's: products of pixels, the small matrices
// that follow from them, and the data gradient.
#include <algorithm>

#include "trainer/ops/cuda/convolution/pointwise_convolution.h"
#include "trainer/ops/cuda/math/norm/norm_merge.h"

namespace trainyard::cuda {

static_assert(std::ranges::all_of(kPixelsTilings, [](const PixelsTiling& tiling) {
  return MergeNormBlock<BFloat16>::takes(tiling.in) && MergeNormBlock<Float16>::takes(tiling.in);
}));

void NormMerging::multiply_pixels(const void* x, const void* g, void* scratch, float* products) const {
  const PixelsShape& shape = shapes_.pixels;
  auto* partial = static_cast<float*>(scratch);
  cuda::multiply_pixels(launcher_, *tilings_.pixels, shape, processors_, g, x, partial);
  const unsigned numbers = shape.results() * shape.in;
  each(launcher_, numbers, PixelsTotal{partial, products, tilings_.pixels->steps(shape, processors_), numbers});
}

void NormMerging::merge(const void* weights, const float* products, const MergedNorm& norm, float* dw,
                        void* merged) const {
  const PixelsShape& shape = shapes_.pixels;
  const auto run = [&]<class T>(T) {
    const MergeNormBlock<T> merge{.weights = static_cast<const T*>(weights),
                                  .products = products,
                                  .mean = norm.mean,
                                  .scale = norm.scale,
                                  .slope = norm.slope,
                                  .offset = norm.offset,
                                  .out = shape.out,
                                  .in = shape.in,
                                  .merged = static_cast<T*>(merged),
                                  .bias = bias_of(merged),
                                  .dw = dw};
    blocks(launcher_, merge.blocks(), merge);
  };
  shape.fp16 ? run(Float16{}) : run(BFloat16{});
}

void NormMerging::backward_data(const void* x, const void* g, const void* merged, const GradientEnd& end,
                                void* dx) const {
  PointwiseEnd own = pointwise_end(end);
  own.merge = {x, bias_of(merged)};
  multiply_pointwise_gradient(launcher_, *tilings_.gradient, shapes_.gradient, processors_, g, merged, own, dx,
                              end.sums);
}

}  // namespace trainyard::cuda
