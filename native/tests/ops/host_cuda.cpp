#include "tests/ops/host_cuda.h"

#include <cstring>
#include <vector>

#include "common/error.h"
#include "trainer/ops/cuda/ops_backend.h"
#include "trainer/tensor/aligned_memory.h"

namespace trainyard::test {
namespace {

class HostMemory final : public BackendMemory {
 public:
  explicit HostMemory(size_t bytes) : memory_(bytes) {}
  std::byte* data() const override { return memory_.data(); }
  size_t bytes() const override { return memory_.bytes(); }

 private:
  AlignedMemory memory_;
};

/// cublasSgemm by its definition, summed in double: element (r, c) of a column-major matrix of stride s is [r + c s].
void multiply(const cuda::Product& p) {
  for (int c = 0; c < p.columns; ++c) {
    for (int r = 0; r < p.rows; ++r) {
      double sum = 0;
      for (int k = 0; k < p.inner; ++k) {
        const float a = p.transpose_a ? p.a[k + size_t(r) * p.stride_a] : p.a[r + size_t(k) * p.stride_a];
        const float b = p.transpose_b ? p.b[c + size_t(k) * p.stride_b] : p.b[k + size_t(c) * p.stride_b];
        sum += double{a} * double{b};
      }
      p.c[r + size_t(c) * p.stride_c] = static_cast<float>(sum);
    }
  }
}

/// Convolutions over channels-last memory by their definition, summed in double.
class HostConvolution final : public cuda::ConvolutionPlans {
 public:
  explicit HostConvolution(const Conv2dParams& params) : p_(params) {}
  std::string description() const override { return "loops"; }
  // Not zero, so that whoever lays out scratch wrongly is seen.
  size_t forward_scratch_bytes() const override { return kScratch; }
  size_t backward_data_scratch_bytes() const override { return kScratch; }
  size_t backward_weights_scratch_bytes() const override { return kScratch; }

  void forward(const void* x, const void* weights, void* y, void* scratch) override {
    const auto* in = static_cast<const float*>(x);
    const auto* w = static_cast<const float*>(weights);
    std::vector<double> sums(p_.output_shape().elements());
    each_product([&](size_t iy, size_t ix, size_t iw) { sums[iy] += double{in[ix]} * double{w[iw]}; });
    put(sums, y, scratch);
  }
  void backward_data(const void* dy, const void* weights, void* dx, void* scratch) override {
    const auto* out = static_cast<const float*>(dy);
    const auto* w = static_cast<const float*>(weights);
    std::vector<double> sums(p_.input.shape.elements());
    each_product([&](size_t iy, size_t ix, size_t iw) { sums[ix] += double{out[iy]} * double{w[iw]}; });
    put(sums, dx, scratch);
  }
  void backward_weights(const void* x, const void* dy, void* dw, void* scratch) override {
    const auto* in = static_cast<const float*>(x);
    const auto* out = static_cast<const float*>(dy);
    std::vector<double> sums(size_t(p_.out_channels) * p_.kernel_h * p_.kernel_w * p_.input.shape.c);
    each_product([&](size_t iy, size_t ix, size_t iw) { sums[iw] += double{out[iy]} * double{in[ix]}; });
    put(sums, dw, scratch);
  }

 private:
  static constexpr size_t kScratch = 192;

  static void put(const std::vector<double>& sums, void* to, void* scratch) {
    std::memset(scratch, 0xFF, kScratch);
    for (size_t i = 0; i < sums.size(); ++i) static_cast<float*>(to)[i] = static_cast<float>(sums[i]);
  }

  template <class Body>
  void each_product(const Body& body) const {
    const Shape in = p_.input.shape;
    const Shape out = p_.output_shape();
    for (int n = 0; n < out.n; ++n) {
      for (int h = 0; h < out.h; ++h) {
        for (int w = 0; w < out.w; ++w) {
          for (int kh = 0; kh < p_.kernel_h; ++kh) {
            for (int kw = 0; kw < p_.kernel_w; ++kw) {
              const int from_h = h * p_.stride_h - p_.pad_h + kh;
              const int from_w = w * p_.stride_w - p_.pad_w + kw;
              if (from_h < 0 || from_h >= in.h || from_w < 0 || from_w >= in.w) continue;
              const size_t iy = ((size_t(n) * out.h + h) * out.w + w) * out.c;
              const size_t ix = ((size_t(n) * in.h + from_h) * in.w + from_w) * in.c;
              const size_t iw = (size_t(kh) * p_.kernel_w + kw) * in.c;
              const size_t filter = size_t(p_.kernel_h) * p_.kernel_w * in.c;
              for (int o = 0; o < out.c; ++o) {
                for (int c = 0; c < in.c; ++c) body(iy + o, ix + c, iw + o * filter + c);
              }
            }
          }
        }
      }
    }
  }

  Conv2dParams p_;
};

class HostCuda final : public cuda::OpsBackend {
 public:
  HostCuda() {
    device_.launcher = {nullptr, [](int code, const char* message) { throw Error(static_cast<Exit>(code), message); }};
    device_.memory = this;
    device_.multiply = multiply;
    device_.plan_convolution = [](const Conv2dParams& params) { return std::make_unique<HostConvolution>(params); };
  }
  std::string name() const override { return "cuda arithmetic on the host"; }
  std::unique_ptr<BackendMemory> allocate(size_t bytes) override { return std::make_unique<HostMemory>(bytes); }
  void to_host(void* host, const void* memory, size_t bytes) override { std::memcpy(host, memory, bytes); }
  void from_host(void* memory, const void* host, size_t bytes) override { std::memcpy(memory, host, bytes); }
  void synchronize() override {}
};

}  // namespace

std::unique_ptr<Backend> make_host_cuda() { return std::make_unique<HostCuda>(); }

}  // namespace trainyard::test
