// The gradient of a convolution's weights as matrix products, for shapes for which oneDNN has only
// its unoptimised reference.
#pragma once
#include <cstddef>

#include "trainer/ops/contract/conv2d.h"

namespace trainyard::cpu {

/// dw [out, c kernel_h kernel_w] = dy^T [out, pixels] columns [pixels, c kernel_h kernel_w], where a
/// row of the columns is what one pixel of the output reads (im2col). All in fp32. The images go in
/// groups, so that the columns stay small.
class ColumnsGradient {
 public:
  explicit ColumnsGradient(const Conv2dParams& params);

  /// What `columns` of run() must hold.
  size_t columns_bytes() const;

  /// x: [n, c, h, w]. dy: [n, out_h, out_w, out]. dw: [out, c, kernel_h, kernel_w].
  void run(const float* x, const float* dy, float* dw, float* columns) const;

 private:
  int row() const { return p_.input.shape.c * p_.kernel_h * p_.kernel_w; }
  void gather(const float* x, int first, int images, float* columns) const;

  Conv2dParams p_;
  Shape out_;
  int group_;  // images
};

}  // namespace trainyard::cpu
