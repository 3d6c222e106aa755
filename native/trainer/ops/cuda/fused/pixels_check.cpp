#include <algorithm>
#include <cmath>

#include "trainer/ops/cuda/fused/pixels_trial.h"
#include "trainer/ops/cuda/fused/pointwise_check.h"
#include "trainer/ops/cuda/fused/product_trial.h"

namespace trainyard::cuda {

namespace {

/// Both factors of random numbers.
template <class T>
struct PixelsFactors {
  PixelsShape shape;
  std::vector<T> g, x;                 // [rows, out], [rows, in]
  std::vector<double> wide_g, wide_x;  // zeros behind them, up to full chunks

  PixelsFactors(const PixelsTiling& tiling, const PixelsShape& shape)
      : shape(shape),
        g(trial_numbers<T>(size_t{shape.rows} * shape.out, 1)),
        x(trial_numbers<T>(size_t{shape.rows} * shape.in, 2)),
        wide_g(widened(g)),
        wide_x(widened(x)),
        chunks_(tiling.chunks(shape)) {
    wide_g.resize(chunks_ * 64 * shape.out);
    wide_x.resize(chunks_ * 64 * shape.in);
  }

  /// [out + in + 1, in] of a step.
  std::vector<double> products(size_t step, size_t steps) const {
    std::vector<double> sums(shape.results() * size_t{shape.in});
    for (size_t chunk = step; chunk < chunks_; chunk += steps) {
      for (size_t r = chunk * 64; r < (chunk + 1) * 64; r += kPixels) {
        double* to = sums.data();
        for (size_t f = 0; f < shape.out; ++f, to += shape.in) add(to, wide_g.data() + r * shape.out + f, shape.out, r);
        for (size_t f = 0; f < shape.in; ++f, to += shape.in) add(to, wide_x.data() + r * shape.in + f, shape.in, r);
        constexpr double kOnes[kPixels] = {1, 1, 1, 1};
        add(to, kOnes, 1, r);
      }
    }
    return sums;
  }

 private:
  static constexpr size_t kPixels = 4;
  size_t chunks_;

  /// Of some pixels from r on: a factor of theirs, `stride` numbers apart, times all of x.
  void add(double* to, const double* factor, size_t stride, size_t r) const {
    const double by[kPixels] = {factor[0], factor[stride], factor[2 * stride], factor[3 * stride]};
    const size_t in = shape.in;
    const double* from = wide_x.data() + r * in;
    for (size_t c = 0; c < in; ++c) {
      to[c] += (by[0] * from[c] + by[1] * from[in + c]) + (by[2] * from[2 * in + c] + by[3] * from[3 * in + c]);
    }
  }
};

template <class T>
std::string check(const Device& device, const PixelsTiling& tiling, const PixelsTrial& trial) {
  const PixelsShape& shape = trial.shape;
  const PixelsFactors<T> factors(tiling, shape);
  // No numbers, and a row behind them.
  std::vector<float> found(tiling.partial_numbers(shape, trial.processors) + shape.in, float_of_bits(0xFFFFFFFFU));
  const auto g = device.put(factors.g);
  const auto x = device.put(factors.x);
  const auto partial = device.put(found);
  multiply_pixels(device.launcher, tiling, shape, trial.processors, g->data(), x->data(),
                  reinterpret_cast<float*>(partial->data()));
  device.memory->to_host(found.data(), partial->data(), found.size() * sizeof(float));
  if (!std::all_of(found.end() - static_cast<std::ptrdiff_t>(shape.in), found.end(),
                   [](float number) { return float_bits(number) == 0xFFFFFFFFU; })) {
    return "it writes behind the end of its results";
  }

  const double error = product_error(trial.each(tiling));
  const size_t steps = tiling.steps(shape, trial.processors);
  for (size_t step = 0; step < steps; ++step) {
    const std::vector<double> exact = factors.products(step, steps);
    const float* own = found.data() + step * exact.size();
    for (size_t i = 0; i < exact.size(); ++i) {
      // A comparison with what is not a number is false.
      if (std::abs(double{own[i]} - exact[i]) <= error) continue;
      const std::string place = place_of(i / shape.in, i % shape.in);
      return differs(place + " of step " + std::to_string(step), double{own[i]}, exact[i]);
    }
  }
  return "";
}

}  // namespace

std::string check_pixels(const Device& device, const PixelsTiling& tiling, bool fp16) {
  const PixelsTrial trial = PixelsTrial::of(tiling, fp16);
  return fp16 ? check<Float16>(device, tiling, trial) : check<BFloat16>(device, tiling, trial);
}

}  // namespace trainyard::cuda
