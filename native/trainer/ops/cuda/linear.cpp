// The fully connected layer: three products of cuBLAS, which is column-major, so that our [rows,
// columns] are its [columns, rows].
#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/elementwise.h"
#include "trainer/ops/cuda/math/sums.h"

namespace trainyard::cuda {

namespace {

class CudaLinear final : public LinearOp {
 public:
  CudaLinear(const Device& device, const LinearParams& params) : device_(device), p_(params) {
    if (p_.input == DType::f32) return;
    const size_t bytes = dtype_bytes(p_.input);
    rounded_weights_ = device.memory->allocate(weights() * bytes);
    if (p_.output == DType::f32) {
      rounded_gradient_ = device.memory->allocate(outputs() * bytes);
    } else {
      sums_ = device.memory->allocate(outputs() * sizeof(float));
    }
  }

  void forward(const void* x, const float* weights_at, const float* bias, void* y) override {
    void* sums = sums_ ? sums_->data() : y;
    // y^T [out, batch] = W [out, in] x^T [in, batch]
    multiply({true, false, p_.out, p_.batch, p_.in, rounded(weights_at, weights(), rounded_weights_), p_.in, x, p_.in,
              sums, p_.out});
    with_stored(p_.output, [&]<class T>(T) {
      each(device_.launcher, outputs(),
           AddBias<T>{static_cast<const float*>(sums), static_cast<T*>(y), bias, static_cast<unsigned>(p_.out),
                      p_.relu});
    });
  }

  void backward_relu(const void* y, void* dy) override {
    if (!p_.relu) return;
    with_stored(p_.output, [&]<class T>(T) {
      each(device_.launcher, outputs(), MaskByOutput<T>{static_cast<const T*>(y), static_cast<T*>(dy)});
    });
  }

  void backward_data(const void* dy, const float* weights_at, void* dx) override {
    // dx^T [in, batch] = W^T [in, out] dy^T [out, batch]
    multiply({false, false, p_.in, p_.batch, p_.out, rounded(weights_at, weights(), rounded_weights_), p_.in,
              gradient(dy), p_.out, dx, p_.in, DType::f32, p_.input});
  }

  void backward_weights(const void* x, const void* dy, float* dw, float* db) override {
    // dW^T [in, out] = x^T [in, batch] dy [batch, out]
    multiply({false, true, p_.in, p_.out, p_.batch, x, p_.in, gradient(dy), p_.out, dw, p_.in});
    with_stored(p_.output, [&]<class T>(T) {
      const auto columns = static_cast<unsigned>(p_.out);
      blocks(device_.launcher, ColumnSumsBlock<T>::blocks(columns),
             ColumnSumsBlock<T>{static_cast<const T*>(dy), db, static_cast<unsigned>(p_.batch), columns});
    });
  }

 private:
  size_t outputs() const { return static_cast<size_t>(p_.batch) * static_cast<size_t>(p_.out); }
  size_t weights() const { return static_cast<size_t>(p_.in) * static_cast<size_t>(p_.out); }

  void multiply(Product product) const {
    product.factors = p_.input;
    device_.multiply(product);
  }

  /// dy as a factor of a product.
  const void* gradient(const void* dy) const {
    if (p_.output == p_.input) return dy;
    return rounded(static_cast<const float*>(dy), outputs(), rounded_gradient_);
  }

  /// fp32 numbers as a factor of a product.
  const void* rounded(const float* from, size_t count, const std::unique_ptr<BackendMemory>& to) const {
    if (p_.input == DType::f32) return from;
    with_stored(p_.input,
                [&]<class T>(T) { each(device_.launcher, count, Round<T>{from, reinterpret_cast<T*>(to->data())}); });
    return to->data();
  }

  const Device& device_;
  LinearParams p_;  // x: [batch, in], y: [batch, out], W: [out, in]
  // Only where x is not fp32:
  std::unique_ptr<BackendMemory> rounded_weights_;   // [out, in], as x is stored
  std::unique_ptr<BackendMemory> rounded_gradient_;  // [batch, out], where dy is fp32
  std::unique_ptr<BackendMemory> sums_;              // [batch, out], fp32, where y is not
};

}  // namespace

std::unique_ptr<LinearOp> make_linear(const Device& device, const LinearParams& params) {
  return std::make_unique<CudaLinear>(device, params);
}

}  // namespace trainyard::cuda
