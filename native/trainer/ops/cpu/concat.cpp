// Channels of several tensors behind one another.
#include <algorithm>
#include <cstring>
#include <utility>

#include "trainer/base/parallel.h"
#include "trainer/ops/cpu/makers.h"

namespace trainyard::cpu {

namespace {

class CpuConcat final : public ConcatOp {
 public:
  explicit CpuConcat(const std::vector<TensorDesc>& parts) {
    Shape shape = parts.front().shape;
    shape.c = 0;
    for (const TensorDesc& part : parts) {
      parts_.push_back({part, shape.c, false});
      shape.c += part.shape.c;
    }
    output_ = {shape, parts.front().layout, parts.front().dtype};
    element_ = dtype_bytes(output_.dtype);
    for (Part& part : parts_) part.whole = is_whole(part);
  }

  const TensorDesc& output() const override { return output_; }

  void forward(std::span<const void* const> parts, void* y) override {
    auto* out = static_cast<std::byte*>(y);
    if (output_.padded_channels() != output_.shape.c) std::memset(y, 0, output_.bytes());
    for (size_t i = 0; i < parts_.size(); ++i) {
      const auto* from = static_cast<const std::byte*>(parts[i]);
      each_row(parts_[i], [&](size_t row, size_t in_all, size_t length) {
        std::memcpy(out + in_all * element_, from + row * element_, length * element_);
      });
    }
  }

  void backward(const void* dy, std::span<void* const> dparts) override {
    const auto* out = static_cast<const std::byte*>(dy);
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (dparts[i] == nullptr) continue;
      auto* to = static_cast<std::byte*>(dparts[i]);
      const TensorDesc& desc = parts_[i].desc;
      if (desc.padded_channels() != desc.shape.c) std::memset(to, 0, desc.bytes());
      each_row(parts_[i], [&](size_t row, size_t in_all, size_t length) {
        std::memcpy(to + row * element_, out + in_all * element_, length * element_);
      });
    }
  }

 private:
  struct Part {
    TensorDesc desc;
    int first;   // channel of the output
    bool whole;  // its blocks are the output's
  };

  /// All our models' are: their branches have multiples of 16 channels.
  bool is_whole(const Part& part) const {
    if (part.desc.layout != output_.layout) return false;
    if (output_.layout == Layout::nhwc) return true;
    return part.first % output_.block() == 0 && part.desc.shape.c % output_.block() == 0;
  }

  /// Calls body(place in the part, place in the output, how many) for stretches that lie together
  /// in both.
  template <class Body>
  void each_row(const Part& part, const Body& body) const {
    const Shape& shape = part.desc.shape;
    const auto pixels = static_cast<size_t>(shape.pixels());
    if (!part.whole) {
      parallel_for(static_cast<size_t>(shape.n) * shape.c, 1, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) each_element(part, i, body);
      });
      return;
    }
    const bool last = output_.layout == Layout::nhwc;
    const size_t rows = last ? static_cast<size_t>(shape.n) * pixels : static_cast<size_t>(shape.n);
    const size_t unit = last ? 1 : pixels;
    const size_t length = shape.c * unit;
    parallel_for(rows, 8192 / length + 1, [&](size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row) {
        body(row * length, row * output_.shape.c * unit + part.first * unit, length);
      }
    });
  }

  /// Channel i % c of image i / c, pixel by pixel.
  template <class Body>
  void each_element(const Part& part, size_t i, const Body& body) const {
    const Shape& shape = part.desc.shape;
    const int n = static_cast<int>(i) / shape.c;
    const int c = static_cast<int>(i) % shape.c;
    for (int h = 0; h < shape.h; ++h) {
      for (int w = 0; w < shape.w; ++w) {
        body(part.desc.index(n, c, h, w), output_.index(n, part.first + c, h, w), size_t{1});
      }
    }
  }

  TensorDesc output_;   // [n, sum of c, h, w]
  size_t element_ = 0;  // bytes
  std::vector<Part> parts_;
};

}  // namespace

std::unique_ptr<ConcatOp> make_concat(const std::vector<TensorDesc>& parts) {
  return std::make_unique<CpuConcat>(parts);
}

}  // namespace trainyard::cpu
