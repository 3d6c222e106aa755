// The bytes that a kernel of the CUDA back end must move through a device's memory: each input read
// once, each output written once. What a step of a network moves is the sum
// (step_launches_test.cpp).
#pragma once
#include <cstddef>
#include <typeinfo>

#include "trainer/ops/cuda/math/elementwise.h"
#include "trainer/ops/cuda/math/norm/norm_merge.h"
#include "trainer/ops/cuda/math/norm/norm_pair_blocks.h"
#include "trainer/ops/cuda/math/norm/norm_pool_blocks.h"
#include "trainer/ops/cuda/math/pooling_wide.h"
#include "trainer/ops/cuda/math/repack.h"
#include "trainer/ops/cuda/math/softmax.h"
#include "trainer/ops/cuda/math/space_to_depth.h"
#include "trainer/ops/cuda/math/sums.h"
#include "trainer/ops/cuda/math/update_wide.h"

namespace trainyard::test {

struct Traffic {
  const char* kernel;  ///< the C++ name of a type where its bytes are not known
  size_t bytes;
};

template <class F>
Traffic traffic(const F&, size_t /*count*/) {
  return {typeid(F).name(), 0};
}

template <class T>
Traffic traffic(const cuda::NormSumsBlock<T>& f, size_t) {
  return {"batch norm: sums", sizeof(T) * f.fold.tiles.rows * f.fold.tiles.channels};
}
template <class End>
Traffic traffic(const cuda::NormPartialsBlock<End>& f, size_t) {
  return {"batch norm: sums of the convolution's", End::kSums * sizeof(float) * f.rows * f.channels};
}
template <class T, cuda::NormEnd kEnd>
Traffic traffic(const cuda::NormApplyBlock<T, kEnd>& f, size_t) {
  const size_t numbers = size_t{f.tiles.rows} * f.tiles.channels;
  const size_t bits = kEnd == cuda::NormEnd::residual_relu_noted ? numbers / cuda::kWide<T> : 0;
  return {"batch norm: apply", (cuda::NormApplyBlock<T, kEnd>::kResidual ? 3 : 2) * sizeof(T) * numbers + bits};
}
template <class T, bool kMore, cuda::Passed kPassed, bool kStore>
Traffic traffic(const cuda::NormGradientSumsBlock<T, kMore, kPassed, kStore>& f, size_t) {
  const size_t numbers = size_t{f.fold.tiles.rows} * f.fold.tiles.channels;
  const size_t bits = kPassed == cuda::Passed::noted ? numbers / cuda::kWide<T> : 0;
  return {"batch norm: sums of gradients", (2U + (kMore ? 1U : 0U) + (kStore ? 1U : 0U)) * sizeof(T) * numbers + bits};
}
template <class T, bool kMasked>
Traffic traffic(const cuda::NormGradientBlock<T, kMasked>& f, size_t) {
  return {"batch norm: gradient", 3 * sizeof(T) * f.tiles.rows * f.tiles.channels};
}
inline Traffic traffic(const cuda::PixelsTotal& f, size_t) {
  return {"batch norm merged: small matrices", sizeof(float) * f.numbers * (f.steps + 1)};
}
template <class T>
Traffic traffic(const cuda::MergeNormBlock<T>& f, size_t) {
  const size_t weights = size_t{f.out} * f.in;
  const size_t merged = size_t{f.in} * (f.out + f.in) * sizeof(T) + f.in * sizeof(float);
  return {"batch norm merged: small matrices",
          weights * (sizeof(T) + 2 * sizeof(float)) + size_t{f.in} * (f.in + 1) * sizeof(float) + merged};
}
template <class T, bool kNote>
Traffic traffic(const cuda::NormPairApplyBlock<T, kNote>& f, size_t) {
  const size_t numbers = size_t{f.tiles.rows} * f.tiles.channels;
  return {"batch norms of block and projection: apply",
          3 * sizeof(T) * numbers + (kNote ? numbers / cuda::kWide<T> : 0)};
}
template <class T, bool kMore>
Traffic traffic(const cuda::NormPairGradientSumsBlock<T, kMore>& f, size_t) {
  const size_t numbers = size_t{f.fold.tiles.rows} * f.fold.tiles.channels;
  return {"batch norms of block and projection: sums of gradients",
          (4U + (kMore ? 1U : 0U)) * sizeof(T) * numbers + numbers / cuda::kWide<T>};
}
template <class T>
Traffic traffic(const cuda::NormPairGradientBlock<T>& f, size_t) {
  return {"batch norms of block and projection: gradients", 5 * sizeof(T) * f.tiles.rows * f.tiles.channels};
}
template <class T, bool kNote>
Traffic traffic(const cuda::NormPoolBlock<T, kNote>& f, size_t) {
  const size_t out = size_t{f.tiles.rows} * f.tiles.channels;
  const size_t in = out / static_cast<size_t>(f.s.out_h * f.s.out_w) * static_cast<size_t>(f.s.in_h * f.s.in_w);
  return {"batch norm, ReLU, max pooling: apply", sizeof(T) * (in + out) + (kNote ? (sizeof(T) + 1) * out : 0)};
}
template <class T>
Traffic traffic(const cuda::NormPoolGradientBlock<T>& f, size_t) {
  const auto squares = static_cast<size_t>(f.squares(f.s.in_h, f.s.pad) * f.squares(f.s.in_w, f.s.pad));
  const size_t images = size_t{f.tiles.rows} / squares * f.tiles.channels;
  const size_t in = images * static_cast<size_t>(f.s.in_h * f.s.in_w);
  const size_t out = images * static_cast<size_t>(f.s.out_h * f.s.out_w);
  return {"batch norm, ReLU, max pooling: gradient", sizeof(T) * (2 * in + out) + out};
}
template <class T>
Traffic traffic(const cuda::InputNormalise<T>& f, size_t count) {
  return {"input", f.present + count * sizeof(T)};
}
template <class T>
Traffic traffic(const cuda::AddToWide<T>&, size_t count) {
  return {"sum of two gradients", 3 * sizeof(T) * cuda::kWide<T> * count};
}
template <class T>
Traffic traffic(const cuda::Round<T>&, size_t count) {
  return {"last layer", count * (sizeof(float) + sizeof(T))};
}
template <class T>
Traffic traffic(const cuda::AddBias<T>&, size_t count) {
  return {"last layer", count * (sizeof(float) + sizeof(T))};
}
template <class T>
Traffic traffic(const cuda::ColumnSumsBlock<T>& f, size_t) {
  return {"last layer", sizeof(T) * f.rows * f.columns};
}
template <class T, int kKernel>
Traffic traffic(const cuda::MaxPoolWide<T, kKernel>& f, size_t count) {
  const size_t out = count * cuda::kWide<T>;
  const size_t in = out / static_cast<size_t>(f.s.out_h * f.s.out_w) * static_cast<size_t>(f.s.in_h * f.s.in_w);
  return {"max pooling", sizeof(T) * (in + out) + out};
}
template <class T, int kKernel, int kStride>
Traffic traffic(const cuda::MaxPoolGradientWide<T, kKernel, kStride>& f, size_t count) {
  const size_t in = count * cuda::kWide<T>;
  const size_t out = in / static_cast<size_t>(f.s.in_h * f.s.in_w) * static_cast<size_t>(f.s.out_h * f.s.out_w);
  return {"max pooling", sizeof(T) * (in + out) + out};
}
template <class T>
Traffic traffic(const cuda::GlobalAverageWide<T>& f, size_t count) {
  return {"global mean", sizeof(T) * cuda::kWide<T> * count * (1 + f.pixels)};
}
template <class T>
Traffic traffic(const cuda::GlobalAverageGradientWide<T>& f, size_t count) {
  return {"global mean", sizeof(T) * cuda::kWide<T> * (count + count / f.pixels)};
}
inline Traffic traffic(const cuda::PackAll& f, size_t parts) {
  size_t bytes = 0;
  for (unsigned job = 0; parts > 0 && job <= f.owner[parts - 1]; ++job) {
    const cuda::RepackShape& s = f.jobs[job].shape;
    bytes += size_t{s.out} * s.in * s.window * (sizeof(float) + (f.jobs[job].type == 0 ? 4U : 2U));
  }
  return {"weights to 16 bits", bytes};
}
template <class T>
Traffic traffic(const cuda::Unpack<T>& f, size_t) {
  return {"gradients of weights to fp32",
          size_t{f.shape.out} * f.shape.in * f.shape.window * (sizeof(float) + sizeof(T))};
}
template <class T>
Traffic traffic(const cuda::SpaceToDepth<T>& f, size_t) {
  const auto plane = [](int height, int width) { return static_cast<size_t>(height) * static_cast<size_t>(width); };
  const size_t images = size_t{f.s.images} * f.s.in * plane(f.s.height.in, f.s.width.in) + f.s.pixels();
  const size_t filters = size_t{f.s.out} * f.s.in * plane(f.s.height.kernel, f.s.width.kernel) + f.s.weights();
  return {"stem: space to depth", sizeof(T) * (images + (f.first > 0 ? filters : 0))};
}
template <class T>
Traffic traffic(const cuda::DepthToSpace<T>& f, size_t count) {
  return {"stem: space to depth", sizeof(T) * (f.s.weights() + count)};
}
inline Traffic traffic(const cuda::SoftmaxLargest& f, size_t count) {
  return {"loss", count / f.s.parts * f.s.classes * sizeof(float)};
}
inline Traffic traffic(const cuda::SoftmaxSums& f, size_t count) {
  return {"loss", count / f.s.parts * f.s.classes * sizeof(float)};
}
inline Traffic traffic(const cuda::SoftmaxLoss& f, size_t count) { return {"loss", count * f.s.parts * 28}; }
inline Traffic traffic(const cuda::SoftmaxGradient&, size_t count) { return {"loss", count * 2 * sizeof(float)}; }
inline Traffic traffic(const cuda::SoftmaxMixedLoss& f, size_t count) { return traffic(f.plain, count); }
inline Traffic traffic(const cuda::SoftmaxMixedGradient& f, size_t count) { return traffic(f.plain, count); }
template <class Rule>
Traffic traffic(const cuda::UpdateWide<Rule>& f, size_t) {
  return {"optimizer", (3 + 2 * Rule::kStates) * sizeof(float) * f.count};
}

}  // namespace trainyard::test
