// What a tensor's memory looks like: its logical shape and the layout a back end chose for it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "trainer/tensor/dtype.h"
#include "trainer/tensor/shape.h"

namespace trainyard {

/// How [n, c, h, w] lies in memory. Blocked layouts pad the channels to whole blocks; the padding
/// is always zero.
enum class Layout {
  nchw,    ///< plain: [n][c][h][w]
  nhwc,    ///< channels last: [n][h][w][c]
  nchw8c,  ///< [n][c/8][h][w][8], what AVX2 convolutions like
  nchw16c  ///< [n][c/16][h][w][16], what AVX-512 convolutions like
};

const char* layout_name(Layout layout);

/// A tensor in one layout. All four layouts are of one form, [n][blocks][pixels][block], which is
/// how kernels walk over them: nchw has `c` blocks of one channel, nhwc one block of `c` channels.
struct TensorDesc {
  Shape shape;
  Layout layout = Layout::nchw;
  DType dtype = DType::f32;

  int block() const;
  int blocks() const { return (shape.c + block() - 1) / block(); }
  int padded_channels() const { return blocks() * block(); }
  /// Elements in memory, channel padding included.
  size_t elements() const { return static_cast<size_t>(shape.n) * padded_channels() * shape.pixels(); }
  size_t bytes() const { return elements() * dtype_bytes(dtype); }
  /// Where element (n, c, h, w) lies.
  size_t index(int n, int c, int h, int w) const;
  bool operator==(const TensorDesc&) const = default;
};

}  // namespace trainyard
