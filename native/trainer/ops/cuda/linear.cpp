// The fully connected layer: three products of cuBLAS, which is column-major, so that our [rows, columns] are its
// [columns, rows].
#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/elementwise.h"

namespace trainyard::cuda {

namespace {

class CudaLinear final : public LinearOp {
 public:
  CudaLinear(const Device& device, const LinearParams& params) : device_(device), p_(params) {}

  void forward(const void* x, const float* weights, const float* bias, void* y) override {
    auto* out = static_cast<float*>(y);
    // y^T [out, batch] = W [out, in] x^T [in, batch]
    device_.multiply(
        {true, false, p_.out, p_.batch, p_.in, weights, p_.in, static_cast<const float*>(x), p_.in, out, p_.out});
    each(device_.launcher, outputs(), AddBias{out, bias, static_cast<unsigned>(p_.out), p_.relu});
  }

  void backward_relu(const void* y, void* dy) override {
    if (!p_.relu) return;
    each(device_.launcher, outputs(), MaskByOutput{static_cast<const float*>(y), static_cast<float*>(dy)});
  }

  void backward_data(const void* dy, const float* weights, void* dx) override {
    // dx^T [in, batch] = W^T [in, out] dy^T [out, batch]
    device_.multiply({false, false, p_.in, p_.batch, p_.out, weights, p_.in, static_cast<const float*>(dy), p_.out,
                      static_cast<float*>(dx), p_.in});
  }

  void backward_weights(const void* x, const void* dy, float* dw, float* db) override {
    const auto* gradient = static_cast<const float*>(dy);
    // dW^T [in, out] = x^T [in, batch] dy [batch, out]
    device_.multiply(
        {false, true, p_.in, p_.out, p_.batch, static_cast<const float*>(x), p_.in, gradient, p_.out, dw, p_.in});
    each(device_.launcher, static_cast<size_t>(p_.out),
         ColumnSums{gradient, db, static_cast<unsigned>(p_.batch), static_cast<unsigned>(p_.out)});
  }

 private:
  size_t outputs() const { return static_cast<size_t>(p_.batch) * static_cast<size_t>(p_.out); }

  const Device& device_;
  LinearParams p_;  // x: [batch, in], y: [batch, out], W: [out, in]
};

}  // namespace

std::unique_ptr<LinearOp> make_linear(const Device& device, const LinearParams& params) {
  return std::make_unique<CudaLinear>(device, params);
}

}  // namespace trainyard::cuda
