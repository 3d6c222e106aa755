// Fully connected layers by oneDNN's matrix product.
#include <algorithm>
#include <future>
#include <vector>

#include "trainer/base/parallel.h"
#include "trainer/ops/cpu/makers.h"
#include "trainer/ops/cpu/matrix_product.h"

namespace trainyard::cpu {

namespace {

/// oneDNN makes all kernels of its matrix product at a process's first call that is worth one, on
/// one thread in about a tenth of a second.
void make_kernels() {
  set_threads(1);  // for this thread's products alone
  constexpr int kSide = 64;
  const std::vector<float> factor(size_t{kSide} * kSide, 1.0F);
  std::vector<float> product(factor.size());
  multiply({}, kSide, kSide, kSide, factor.data(), factor.data(), product.data());
}

/// They are being made, once for all layers.
std::shared_future<void> kernels() {
  static const std::shared_future<void> made = std::async(std::launch::async, make_kernels).share();
  return made;
}

class DnnlLinear final : public LinearOp {
 public:
  /// Its kernels are made while the layers before it compute for the first time.
  explicit DnnlLinear(const LinearParams& params) : p_(params), kernels_(kernels()) {}
  DnnlLinear(const DnnlLinear&) = delete;
  DnnlLinear& operator=(const DnnlLinear&) = delete;
  /// A process that ends at once must not take away what the kernels' thread still uses.
  ~DnnlLinear() override { kernels_.wait(); }

  void forward(const void* x, const float* weights, const float* bias, void* y) override {
    kernels_.get();
    auto* out = static_cast<float*>(y);
    multiply({.transpose_b = true}, p_.batch, p_.out, p_.in, static_cast<const float*>(x), weights, out);
    for (int n = 0; n < p_.batch; ++n) {
      float* row = out + size_t(n) * p_.out;
      for (int c = 0; c < p_.out; ++c) row[c] += bias[c];
      if (p_.relu) {
        for (int c = 0; c < p_.out; ++c) row[c] = row[c] > 0.0F ? row[c] : 0.0F;
      }
    }
  }

  void backward_relu(const void* y, void* dy) override {
    if (!p_.relu) return;
    const auto* out = static_cast<const float*>(y);
    auto* gradient = static_cast<float*>(dy);
    for (size_t i = 0; i < size_t(p_.batch) * p_.out; ++i) gradient[i] = out[i] > 0.0F ? gradient[i] : 0.0F;
  }

  void backward_data(const void* dy, const float* weights, void* dx) override {
    multiply({}, p_.batch, p_.in, p_.out, static_cast<const float*>(dy), weights, static_cast<float*>(dx));
  }

  void backward_weights(const void* x, const void* dy, float* dw, float* db) override {
    const auto* gradient = static_cast<const float*>(dy);
    multiply({.transpose_a = true}, p_.out, p_.in, p_.batch, gradient, static_cast<const float*>(x), dw);
    for (int c = 0; c < p_.out; ++c) {
      double sum = 0;
      for (int n = 0; n < p_.batch; ++n) sum += gradient[size_t(n) * p_.out + c];
      db[c] = static_cast<float>(sum);
    }
  }

 private:
  LinearParams p_;
  std::shared_future<void> kernels_;
};

}  // namespace

std::unique_ptr<LinearOp> make_linear(const LinearParams& params) { return std::make_unique<DnnlLinear>(params); }

}  // namespace trainyard::cpu
