// Channels of several tensors behind one another.
#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/elementwise.h"

namespace trainyard::cuda {

namespace {

class CudaConcat final : public ConcatOp {
 public:
  CudaConcat(const Device& device, const std::vector<TensorDesc>& parts) : device_(device), parts_(parts) {
    Shape shape = parts.front().shape;
    shape.c = 0;
    for (const TensorDesc& part : parts) {
      require_channels_last(device, part, "concatenation");
      shape.c += part.shape.c;
    }
    output_ = {shape, parts.front().layout, parts.front().dtype};
  }

  const TensorDesc& output() const override { return output_; }

  void forward(std::span<const void* const> parts, void* y) override {
    const auto channels = static_cast<unsigned>(output_.shape.c);
    each_part([&](size_t i, unsigned width, unsigned first) {
      copy(parts[i], y, parts_[i].elements(), width, channels, first);
    });
  }

  void backward(const void* dy, std::span<void* const> dparts) override {
    const auto channels = static_cast<unsigned>(output_.shape.c);
    each_part([&](size_t i, unsigned width, unsigned first) {
      if (dparts[i] == nullptr) return;
      copy(dy, dparts[i], parts_[i].elements(), channels, width, first);
    });
  }

 private:
  void copy(const void* from, void* to, size_t count, unsigned from_channels, unsigned to_channels,
            unsigned first) const {
    with_stored(output_.dtype, [&]<class T>(T) {
      each(device_.launcher, count,
           CopyChannels<T>{static_cast<const T*>(from), static_cast<T*>(to), from_channels, to_channels, first});
    });
  }

  template <class Body>
  void each_part(const Body& body) const {
    unsigned first = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const auto width = static_cast<unsigned>(parts_[i].shape.c);
      body(i, width, first);
      first += width;
    }
  }

  const Device& device_;
  std::vector<TensorDesc> parts_;
  TensorDesc output_;  // [n, sum of c, h, w]
};

}  // namespace

std::unique_ptr<ConcatOp> make_concat(const Device& device, const std::vector<TensorDesc>& parts) {
  return std::make_unique<CudaConcat>(device, parts);
}

}  // namespace trainyard::cuda
