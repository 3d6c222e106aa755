// Our products as loops: sums of a product in double, and partial sums in fp32 as the blocks of the
// kernels write them, each over the tiles of its own.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/ops/host/tape.h"
#include "trainer/ops/cuda/convolution/pointwise.h"
#include "trainer/tensor/dtype.h"

namespace trainyard::cuda {

namespace {

struct Product {
  const PointwiseTiling& tiling;
  PointwiseShape shape;
  unsigned processors;
  const void* a;
  const void* b;
  const void* merged = nullptr;  ///< [rows, columns]: the last part of the depth; nullptr: a has all of it

  size_t sums_rows() const { return tiling.sums_rows(shape, processors); }
  /// Of a pixel: a warp has 16 rows of a tile.
  size_t sums_row(size_t r) const {
    return r / tiling.rows % tiling.steps(shape, processors) * tiling.partials + r % tiling.rows / 16;
  }

  /// stored(at, r, c, value) for each number, at = r columns + c.
  template <class T, class Store>
  void multiply(const Store& store) const {
    const T* pixels = static_cast<const T*>(a);
    const T* others = static_cast<const T*>(merged);
    const T* weights = static_cast<const T*>(b);
    const size_t own = merged != nullptr ? shape.inner - shape.columns : shape.inner;
    for (size_t r = 0; r < shape.rows; ++r) {
      for (size_t c = 0; c < shape.columns; ++c) {
        double sum = 0;
        for (size_t k = 0; k < shape.inner; ++k) {
          const T pixel = k < own ? pixels[r * own + k] : others[r * shape.columns + k - own];
          sum += double{static_cast<float>(pixel)} * double{static_cast<float>(weights[c * shape.inner + k])};
        }
        store(r * shape.columns + c, r, c, static_cast<float>(sum));
      }
    }
  }

  template <class Body>
  void with_type(const Body& body) const {
    shape.fp16 ? body(Float16{}) : body(BFloat16{});
  }

  struct Written {
    void* d;
    float* sums;
  };
  /// tensors: that are read and written beside the product's factors, d among them.
  void run(const Launcher& launcher, const char* name, const Written& written, size_t tensors, size_t sums, size_t bits,
           const std::function<void()>& body) const {
    const size_t numbers = size_t{shape.rows} * shape.columns;
    const size_t factors = (size_t{shape.rows} + shape.columns) * shape.inner;
    const size_t bytes = (factors + tensors * numbers) * sizeof(BFloat16) + bits * numbers / 8 +
                         sums * sizeof(float) * sums_rows() * shape.columns;
    test::Tape* tape = test::Tape::of(launcher);
    if (tape == nullptr) return body();
    const auto spoiled = [=, *this] {
      body();
      if (tape->spoil) tape->spoil({tiling, shape, processors, static_cast<BFloat16*>(written.d), written.sums});
    };
    tape->run(spoiled, name, bytes);
  }
};

}  // namespace

void multiply_pointwise(const Launcher& launcher, const PointwiseTiling& tiling, const PointwiseShape& shape,
                        unsigned processors, const void* a, const void* b, void* d, float* sums) {
  const Product product{tiling, shape, processors, a, b};
  product.run(launcher, "convolution: forward with sums", {d, sums}, 1, 2, 0, [=] {
    const size_t all = product.sums_rows() * product.shape.columns;
    std::fill(sums, sums + 2 * all, 0.0F);
    product.with_type([&]<class T>(T) {
      product.multiply<T>([&](size_t at, size_t r, size_t c, float value) {
        const T stored(value);
        static_cast<T*>(d)[at] = stored;
        const auto rounded = static_cast<float>(stored);
        float* own = sums + product.sums_row(r) * product.shape.columns + c;
        own[0] += rounded;
        own[all] += rounded * rounded;
      });
    });
  });
}

void multiply_pointwise_gradient(const Launcher& launcher, const PointwiseTiling& tiling, const PointwiseShape& shape,
                                 unsigned processors, const void* a, const void* b, const PointwiseEnd& end, void* g,
                                 float* sums) {
  const Product product{tiling, shape, processors, a, b, end.merge.x};
  const bool adds = end.kind != GradientEndKind::inner;
  const char* name = adds ? "convolution: gradient of a block" : "convolution: gradient of a batch norm";
  product.run(launcher, name, {g, sums}, end.norms() + (adds ? 2 : 1), 1 + end.norms(), adds ? 1 : 0, [=] {
    const size_t all = product.sums_rows() * product.shape.columns;
    std::fill(sums, sums + (1 + end.norms()) * all, 0.0F);
    product.with_type([&]<class T>(T) {
      product.multiply<T>([&](size_t at, size_t r, size_t c, float value) {
        const auto centred = [&](unsigned norm) {
          return static_cast<float>(static_cast<const T*>(end.x[norm])[at]) - end.mean[norm][c];
        };
        bool passed = false;
        if (adds) {
          value += static_cast<float>(static_cast<const T*>(end.more)[at]);
          passed = (static_cast<const uint8_t*>(end.passed)[at / 8] >> at % 8 & 1) != 0;
        } else {
          if (end.merge.x != nullptr) value += end.merge.bias[c];
          passed = std::fma(centred(0), end.scale[c], end.beta[c]) > 0.0F;
        }
        const T stored(passed ? value : 0.0F);
        static_cast<T*>(g)[at] = stored;
        const auto rounded = static_cast<float>(stored);
        float* own = sums + product.sums_row(r) * product.shape.columns + c;
        own[0] += rounded;
        for (unsigned norm = 0; norm < end.norms(); ++norm) own[(1 + norm) * all] += rounded * centred(norm);
      });
    });
  });
}

}  // namespace trainyard::cuda
