#include "tests/ops/reference.h"

#include <cmath>

namespace trainyard::test {

template <class Body>
void ConvReference::each_product(const Body& body) const {
  const Shape in = x.shape;
  const Shape out = params.output_shape();
  for (int n = 0; n < out.n; ++n) {
    for (int o = 0; o < out.c; ++o) {
      for (int c = 0; c < in.c; ++c) {
        for (int kh = 0; kh < params.kernel_h; ++kh) {
          for (int kw = 0; kw < params.kernel_w; ++kw) {
            const size_t weight = ((size_t(o) * in.c + c) * params.kernel_h + kh) * params.kernel_w + kw;
            for (int h = 0; h < out.h; ++h) {
              const int from_h = h * params.stride_h - params.pad_h + kh;
              if (from_h < 0 || from_h >= in.h) continue;
              for (int column = 0; column < out.w; ++column) {
                const int from_w = column * params.stride_w - params.pad_w + kw;
                if (from_w < 0 || from_w >= in.w) continue;
                body(((size_t(n) * out.c + o) * out.h + h) * out.w + column, x.index(n, c, from_h, from_w), weight);
              }
            }
          }
        }
      }
    }
  }
}

namespace {

double product(double a, double b, bool absolute) { return absolute ? std::abs(a * b) : a * b; }

}  // namespace

Values ConvReference::forward(bool absolute) const {
  Values y(params.output_shape());
  each_product([&](size_t iy, size_t ix, size_t iw) { y.at[iy] += product(x.at[ix], w[iw], absolute); });
  return y;
}

Values ConvReference::backward_data(const Values& dy, bool absolute) const {
  Values dx(x.shape);
  each_product([&](size_t iy, size_t ix, size_t iw) { dx.at[ix] += product(dy.at[iy], w[iw], absolute); });
  return dx;
}

std::vector<double> ConvReference::backward_weights(const Values& dy, bool absolute) const {
  std::vector<double> dw(w.size(), 0.0);
  each_product([&](size_t iy, size_t ix, size_t iw) { dw[iw] += product(dy.at[iy], x.at[ix], absolute); });
  return dw;
}

namespace {

/// Calls body(index, channel) for every element.
template <class Body>
void each(const Shape& shape, const Body& body) {
  const auto pixels = static_cast<size_t>(shape.pixels());
  for (size_t i = 0; i < static_cast<size_t>(shape.elements()); ++i) body(i, i / pixels % shape.c);
}

double per_channel(const Shape& shape) { return static_cast<double>(shape.n) * static_cast<double>(shape.pixels()); }

}  // namespace

std::vector<double> BatchNormReference::mean() const {
  std::vector<double> result(gamma.size(), 0.0);
  each(x.shape, [&](size_t i, size_t c) { result[c] += x.at[i] / per_channel(x.shape); });
  return result;
}

std::vector<double> BatchNormReference::variance() const {
  const std::vector<double> centre = mean();
  std::vector<double> result(gamma.size(), 0.0);
  each(x.shape, [&](size_t i, size_t c) { result[c] += std::pow(x.at[i] - centre[c], 2) / per_channel(x.shape); });
  return result;
}

Values BatchNormReference::forward(const std::vector<double>& centre, const std::vector<double>& spread) const {
  Values y(x.shape);
  each(x.shape, [&](size_t i, size_t c) {
    double value = gamma[c] * (x.at[i] - centre[c]) / std::sqrt(spread[c] + eps) + beta[c];
    if (residual) value += other.at[i];
    y.at[i] = relu ? std::max(value, 0.0) : value;
  });
  return y;
}

BatchNormReference::Gradients BatchNormReference::backward(const Values& dy) const {
  const std::vector<double> centre = mean();
  const std::vector<double> spread = variance();
  const Values y = forward(centre, spread);
  Gradients g{Values(x.shape), Values(x.shape), std::vector<double>(gamma.size(), 0.0),
              std::vector<double>(gamma.size(), 0.0)};
  const auto normal = [&](size_t i, size_t c) { return (x.at[i] - centre[c]) / std::sqrt(spread[c] + eps); };
  each(x.shape, [&](size_t i, size_t c) {
    g.dother.at[i] = relu && y.at[i] <= 0 ? 0.0 : dy.at[i];
    g.dbeta[c] += g.dother.at[i];
    g.dgamma[c] += g.dother.at[i] * normal(i, c);
  });
  const double count = per_channel(x.shape);
  each(x.shape, [&](size_t i, size_t c) {
    g.dx.at[i] = gamma[c] / std::sqrt(spread[c] + eps) *
                 (g.dother.at[i] - g.dbeta[c] / count - normal(i, c) * g.dgamma[c] / count);
  });
  return g;
}

namespace {

/// Calls body(index of y, index of the largest x) for every window; among equals the first counts.
template <class Body>
void each_window(const Values& x, const Shape& out, int kernel, int stride, int pad, const Body& body) {
  for (int n = 0; n < out.n; ++n) {
    for (int c = 0; c < out.c; ++c) {
      for (int h = 0; h < out.h; ++h) {
        for (int w = 0; w < out.w; ++w) {
          bool found = false;
          size_t best = 0;
          for (int kh = 0; kh < kernel; ++kh) {
            for (int kw = 0; kw < kernel; ++kw) {
              const int from_h = h * stride - pad + kh;
              const int from_w = w * stride - pad + kw;
              if (from_h < 0 || from_h >= x.shape.h || from_w < 0 || from_w >= x.shape.w) continue;
              const size_t i = x.index(n, c, from_h, from_w);
              if (!found || x.at[i] > x.at[best]) best = i;
              found = true;
            }
          }
          body(((size_t(n) * out.c + c) * out.h + h) * out.w + w, best);
        }
      }
    }
  }
}

}  // namespace

Values max_pool(const Values& x, int kernel, int stride, int pad) {
  const auto size = [&](int extent) { return (extent + 2 * pad - kernel) / stride + 1; };
  Values y({x.shape.n, x.shape.c, size(x.shape.h), size(x.shape.w)});
  each_window(x, y.shape, kernel, stride, pad, [&](size_t iy, size_t ix) { y.at[iy] = x.at[ix]; });
  return y;
}

Values max_pool_backward(const Values& x, const Values& dy, int kernel, int stride, int pad) {
  Values dx(x.shape);
  each_window(x, dy.shape, kernel, stride, pad, [&](size_t iy, size_t ix) { dx.at[ix] += dy.at[iy]; });
  return dx;
}

Values shortcut(const Values& x, int out_channels, int stride) {
  Values y({x.shape.n, out_channels, (x.shape.h + stride - 1) / stride, (x.shape.w + stride - 1) / stride});
  for (int n = 0; n < x.shape.n; ++n) {
    for (int c = 0; c < x.shape.c; ++c) {
      for (int h = 0; h < y.shape.h; ++h) {
        for (int w = 0; w < y.shape.w; ++w) y(n, c, h, w) = x(n, c, h * stride, w * stride);
      }
    }
  }
  return y;
}

Values shortcut_backward(const Values& x, const Values& dy, int stride) {
  Values dx(x.shape);
  for (int n = 0; n < x.shape.n; ++n) {
    for (int c = 0; c < x.shape.c; ++c) {
      for (int h = 0; h < dy.shape.h; ++h) {
        for (int w = 0; w < dy.shape.w; ++w) dx(n, c, h * stride, w * stride) = dy(n, c, h, w);
      }
    }
  }
  return dx;
}

double weighted_sum(const Values& weights, const Values& values) {
  double sum = 0;
  for (size_t i = 0; i < values.at.size(); ++i) sum += weights.at[i] * values.at[i];
  return sum;
}

}  // namespace trainyard::test
