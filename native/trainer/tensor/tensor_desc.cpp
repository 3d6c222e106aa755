#include "trainer/tensor/tensor_desc.h"

namespace trainyard {

std::string to_string(const Shape& shape) {
  return std::to_string(shape.n) + "x" + std::to_string(shape.c) + "x" + std::to_string(shape.h) + "x" +
         std::to_string(shape.w);
}

const char* layout_name(Layout layout) {
  switch (layout) {
    case Layout::nchw:
      return "nchw";
    case Layout::nhwc:
      return "nhwc";
    case Layout::nchw8c:
      return "nchw8c";
    case Layout::nchw16c:
      return "nchw16c";
  }
  return "unknown";
}

int TensorDesc::block() const {
  switch (layout) {
    case Layout::nchw:
      return 1;
    case Layout::nhwc:
      return shape.c;
    case Layout::nchw8c:
      return 8;
    case Layout::nchw16c:
      return 16;
  }
  return 1;
}

size_t TensorDesc::index(int n, int c, int h, int w) const {
  const int width = block();
  const size_t unit = static_cast<size_t>(n) * blocks() + c / width;
  const size_t pixel = static_cast<size_t>(h) * shape.w + w;
  return (unit * static_cast<size_t>(shape.pixels()) + pixel) * width + c % width;
}

}  // namespace trainyard
