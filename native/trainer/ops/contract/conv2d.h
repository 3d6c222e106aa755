// Convolution, as every back end offers it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "trainer/ops/contract/gradient_end_kind.h"
#include "trainer/tensor/tensor_desc.h"

namespace trainyard {

/// What to convolve. The input's layout is given (it is whatever the op before chose); the op
/// chooses the output's.
struct Conv2dParams {
  TensorDesc input;
  int out_channels = 0;
  int kernel_h = 1, kernel_w = 1;
  int stride_h = 1, stride_w = 1;
  int pad_h = 0, pad_w = 0;
  bool training = true;        ///< backward_weights will be called
  bool input_gradient = true;  ///< backward_data will be called
  bool timed = true;           ///< kernels may be chosen by time; false for who only asks what they take

  /// floor((size + 2 pad - kernel) / stride) + 1 in both directions.
  Shape output_shape() const {
    return {input.shape.n, out_channels, (input.shape.h + 2 * pad_h - kernel_h) / stride_h + 1,
            (input.shape.w + 2 * pad_w - kernel_w) / stride_w + 1};
  }
};

/// What a tensor adds up to, as it is stored: [2, rows, channels] fp32, partial sums of the numbers
/// of each channel, then of their squares. GradientEnd has others.
struct ChannelSums {
  const float* partial = nullptr;
  unsigned rows = 0;  ///< 0: there are none
};

/// How a batch norm with ReLU, or a pair of them, takes the gradient of its output.
struct NormMask {
  /// [pixels, channels / 8], of all kinds but GradientEndKind::inner: bit v of a byte: channel v
  /// passed.
  const uint8_t* passed = nullptr;
  /// [channels] fp32, of each input whose products are wanted; else nullptr.
  std::array<const float*, 2> mean{};
  /// [channels], of GradientEndKind::inner: what (x - mean) scale + beta > 0 says of has passed.
  const float* scale = nullptr;
  const float* beta = nullptr;
};

/// The end of the gradient of a convolution's input, where that is the output of batch norms with a
/// NormMask: g = (dx + more) where the ReLU passed, as it is stored, and what g adds up to.
struct GradientEnd {
  GradientEndKind kind = GradientEndKind::block;
  const void* more = nullptr;  ///< another gradient of the same tensor; none of `inner`
  NormMask mask{};
  std::array<const void*, 2> x{};  ///< the batch norms' inputs, each as the convolution's input
  float* sums = nullptr;           ///< [1 + norms, rows, channels] fp32: partial sums of g, then of g (x - mean)
};

/// The gradient of a batch norm that a convolution of one pixel takes into its own gradients. The
/// batch norm's input is y = x w^T, over pixels, and g the gradient behind its scale and shift. Its
/// gradient (Ioffe and Szegedy 2015, section 3) is linear in g and y,
///   dy = scale g + slope (y - mean) + offset, by channel,
/// so the convolution's gradients follow from g and x, and neither y is read nor dy written:
///   dx = g (scale w) + x (w^T slope w) + w^T (offset - slope mean)
///   dw = scale g^T x + slope (w x^T x - mean s) + offset s, s: the sum of x over pixels.
/// What g y adds up to, which scale, slope and offset follow from, is (g^T x) w^T on its diagonal.
struct MergedNorm {
  const float* mean = nullptr;  ///< [out channels] fp32, as the others
  const float* scale = nullptr;
  const float* slope = nullptr;
  const float* offset = nullptr;
};

/// Bytes that an op needs to merge a batch norm; nothing where it cannot, or is not worth while.
struct MergeBytes {
  size_t scratch = 0;   ///< while pixels are multiplied
  size_t products = 0;  ///< [out + in + 1, in] fp32: g^T x, x^T x, and the sum of x
  size_t weights = 0;   ///< the factors of dx [in, out + in], in the input's type, and a bias [in], fp32

  explicit operator bool() const { return weights > 0; }
};

/// Cross-correlation without bias, as PyTorch's Conv2d. Master weights and their gradients are
/// plain [out, in, kernel_h, kernel_w] fp32; the op's own ("packed") forms of them live in memory
/// that the caller plans, so that nothing is held longer than it is needed. Every pointer is
/// 64-byte aligned but master weights and gradients.
class Conv2dOp {
 public:
  virtual ~Conv2dOp() = default;
  /// Layout and shape of y.
  virtual const TensorDesc& output() const = 0;
  /// The kernels chosen for forward, data and weights, for logs and for a test that none is a slow
  /// fallback.
  virtual std::string description() const = 0;

  /// Bytes of the packed weights for each direction; 0 means the plain weights are used as they
  /// are.
  virtual size_t forward_weights_bytes() const = 0;
  virtual size_t backward_weights_bytes() const = 0;
  /// Writes the packed form. Not called when its size is 0.
  virtual void pack_forward(const float* weights, void* packed) = 0;
  virtual void pack_backward(const float* weights, void* packed) = 0;

  virtual size_t forward_scratch_bytes() const = 0;
  virtual size_t backward_data_scratch_bytes() const = 0;
  virtual size_t backward_weights_scratch_bytes() const = 0;

  /// y = x * w. `weights` is packed, or plain when forward_weights_bytes() is 0.
  virtual void forward(const void* x, const void* weights, void* y, void* scratch) = 0;
  /// Rows of the ChannelSums that forward_with_sums() writes; 0 where it cannot.
  virtual unsigned sums_rows() const { return 0; }
  /// forward(), and at `sums` what y adds up to: [2, sums_rows(), channels]. Only with sums_rows()
  /// > 0.
  virtual void forward_with_sums(const void* x, const void* weights, void* y, void* scratch, float* /*sums*/) {
    forward(x, weights, y, scratch);
  }
  /// dx = d(loss)/dx, overwritten. `weights` is packed for backward, or plain.
  virtual void backward_data(const void* dy, const void* weights, void* dx, void* scratch) = 0;
  /// Rows of the sums that backward_data_to_end() writes; 0 where it cannot, or is not worth while. An
  /// op may measure when it is asked.
  virtual unsigned end_sums_rows(GradientEndKind /*kind*/) { return 0; }
  /// backward_data() and the end of the gradient: g, overwritten, may lie where `more` lies.
  /// `transposed`: the weights as [in, out] of the input's type (PackedWeights::transposed). Only
  /// with end_sums_rows(end.kind) > 0.
  virtual void backward_data_to_end(const void* /*dy*/, const void* /*transposed*/, const GradientEnd& /*end*/,
                                    void* /*g*/) {}
  /// dw = d(loss)/dw, plain, overwritten.
  virtual void backward_weights(const void* x, const void* dy, float* dw, void* scratch) = 0;

  /// Whether the batch norm behind can be merged, where the gradient of x has an end of
  /// GradientEndKind::inner. An op may measure when it is asked. The next four are called only
  /// where this is not empty.
  virtual MergeBytes merge_bytes() { return {}; }
  /// Writes MergeBytes::products, of x [pixels, in] and g [pixels, out].
  virtual void multiply_pixels(const void* /*x*/, const void* /*g*/, void* /*scratch*/, float* /*products*/) {}
  /// dw, plain, overwritten, and MergeBytes::weights at `merged`. `weights` is packed for forward.
  virtual void merge_norm(const void* /*weights*/, const float* /*products*/, const MergedNorm& /*norm*/, float* /*dw*/,
                          void* /*merged*/) {}
  /// Rows of the sums that backward_data_merged() writes.
  virtual unsigned merged_sums_rows() { return 0; }
  /// As backward_data_to_end(), of an `inner` end. x, g: as multiply_pixels() had them.
  virtual void backward_data_merged(const void* /*x*/, const void* /*g*/, const void* /*merged*/,
                                    const GradientEnd& /*end*/, void* /*dx*/) {}

  /// Bytes of another form of x that forward makes and backward_weights() would make again; 0: none.
  virtual size_t kept_bytes() const { return 0; }
  /// forward(), which keeps that form at `kept`. Only with kept_bytes() > 0, as the next.
  virtual void forward_keeping(const void* x, const void* weights, void* y, void* scratch, void* /*kept*/) {
    forward(x, weights, y, scratch);
  }
  /// backward_weights() by what was kept.
  virtual void backward_weights_kept(const void* kept, const void* dy, float* dw, void* scratch) {
    backward_weights(kept, dy, dw, scratch);
  }
};

}  // namespace trainyard
