// The ops written plainly, in double, from their definitions: no layout, no speed. Each gradient is
// what the chain rule gives, so that an op's is compared element by element; finite differences
// check these in turn.
#pragma once
#include "tests/ops/backends.h"

namespace trainyard::test {

/// A convolution and the sizes of the sums in it, which bound what rounding can do.
struct ConvReference {
  Conv2dParams params;
  Values x;               // [n, in, h, w]
  std::vector<double> w;  // [out, in, kernel_h, kernel_w]

  Values forward(bool absolute = false) const;
  Values backward_data(const Values& dy, bool absolute = false) const;
  std::vector<double> backward_weights(const Values& dy, bool absolute = false) const;

 private:
  /// Calls body(index of y, index of x, index of w) for every product.
  template <class Body>
  void each_product(const Body& body) const;
};

struct BatchNormReference {
  bool residual = false;
  bool relu = false;
  double eps = 1e-5;
  Values x, other;  // [n, c, h, w]
  std::vector<double> gamma, beta;

  std::vector<double> mean() const;
  std::vector<double> variance() const;  ///< biased
  Values forward() const { return forward(mean(), variance()); }
  Values forward(const std::vector<double>& mean, const std::vector<double>& variance) const;

  struct Gradients {
    Values dx, dother;
    std::vector<double> dgamma, dbeta;
  };
  Gradients backward(const Values& dy) const;
};

Values max_pool(const Values& x, int kernel, int stride, int pad);
Values max_pool_backward(const Values& x, const Values& dy, int kernel, int stride, int pad);
Values shortcut(const Values& x, int out_channels, int stride);
Values shortcut_backward(const Values& x, const Values& dy, int stride);

/// sum(weights * values)
double weighted_sum(const Values& weights, const Values& values);

}  // namespace trainyard::test
