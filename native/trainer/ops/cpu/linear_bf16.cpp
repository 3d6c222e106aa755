// Fully connected layers whose activations are bf16, by oneDNN's matrix products: bf16 factors,
// sums in fp32.
#include <algorithm>

#include "trainer/base/aligned_memory.h"
#include "trainer/ops/cpu/dnnl_support.h"
#include "trainer/ops/cpu/makers.h"
#include "trainer/ops/cpu/strips.h"

namespace trainyard::cpu {

namespace {

using dnnl::memory;

memory::desc rows(int m, int n, DType dtype) { return {{m, n}, type_of(dtype), memory::format_tag::ab}; }
/// [m, n] of what is stored as [n, m].
memory::desc columns(int m, int n, DType dtype) { return {{m, n}, type_of(dtype), memory::format_tag::ba}; }

/// c[m, n] = a[m, k] b[k, n] + bias[n], then a ReLU.
class Product {
 public:
  Product(const dnnl::engine& engine, const memory::desc& a, const memory::desc& b, const memory::desc& c, bool bias,
          bool relu) {
    dnnl::primitive_attr attributes = user_scratch();
    if (relu) {
      dnnl::post_ops after;
      after.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
      attributes.set_post_ops(after);
    }
    const memory::desc row({1, c.get_dims()[1]}, memory::data_type::f32, memory::format_tag::ab);
    const dnnl::matmul::primitive_desc desc = bias ? dnnl::matmul::primitive_desc(engine, a, b, row, c, attributes)
                                                   : dnnl::matmul::primitive_desc(engine, a, b, c, attributes);
    scratch_ = AlignedMemory(desc.scratchpad_desc().get_size());
    product_ = BoundPrimitive(engine, dnnl::matmul(desc),
                              {{DNNL_ARG_SRC, a},
                               {DNNL_ARG_WEIGHTS, b},
                               {DNNL_ARG_BIAS, bias ? row : memory::desc()},
                               {DNNL_ARG_DST, c},
                               {DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()}});
  }

  void run(dnnl::stream& stream, const void* a, const void* b, const void* bias, void* c) {
    product_.set(DNNL_ARG_SRC, a);
    product_.set(DNNL_ARG_WEIGHTS, b);
    if (bias != nullptr) product_.set(DNNL_ARG_BIAS, bias);
    product_.set(DNNL_ARG_DST, c);
    product_.set(DNNL_ARG_SCRATCHPAD, scratch_.data());
    product_.run(stream);
  }

 private:
  AlignedMemory scratch_;
  BoundPrimitive product_;
};

template <class T>  // in which y and dy are stored
class DnnlLinearBf16 final : public LinearOp {
 public:
  explicit DnnlLinearBf16(const LinearParams& params)
      : p_(params),
        engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        forward_(engine_, rows(p_.batch, p_.in, kBf16), columns(p_.in, p_.out, kBf16),
                 rows(p_.batch, p_.out, p_.output), true, p_.relu),
        data_(engine_, rows(p_.batch, p_.out, kBf16), rows(p_.out, p_.in, kBf16), rows(p_.batch, p_.in, kBf16), false,
              false),
        weights_(engine_, columns(p_.out, p_.batch, kBf16), rows(p_.batch, p_.in, kBf16),
                 rows(p_.out, p_.in, DType::f32), false, false),
        rounded_(size_t(p_.out) * p_.in * sizeof(BFloat16)),
        gradient_(outputs() * sizeof(BFloat16)) {}

  void forward(const void* x, const float* weights, const float* bias, void* y) override {
    forward_.run(stream_, x, round(weights, size_t(p_.out) * p_.in, rounded_), bias, y);
  }

  void backward_relu(const void* y, void* dy) override {
    if (!p_.relu) return;
    const auto* out = static_cast<const T*>(y);
    auto* gradient = static_cast<T*>(dy);
    for (size_t i = 0; i < outputs(); ++i) {
      if (!(static_cast<float>(out[i]) > 0.0F)) gradient[i] = T();
    }
  }

  void backward_data(const void* dy, const float* weights, void* dx) override {
    const void* rounded = round(weights, size_t(p_.out) * p_.in, rounded_);
    data_.run(stream_, round(static_cast<const T*>(dy), outputs(), gradient_), rounded, nullptr, dx);
  }

  void backward_weights(const void* x, const void* dy, float* dw, float* db) override {
    const auto* gradient = static_cast<const T*>(dy);
    weights_.run(stream_, round(gradient, outputs(), gradient_), x, nullptr, dw);
    for (int c = 0; c < p_.out; ++c) {
      double sum = 0;
      for (int n = 0; n < p_.batch; ++n) sum += double{static_cast<float>(gradient[size_t(n) * p_.out + c])};
      db[c] = static_cast<float>(sum);
    }
  }

 private:
  static constexpr DType kBf16 = DType::bf16;
  size_t outputs() const { return size_t(p_.batch) * p_.out; }

  static const void* round(const BFloat16* values, size_t, const AlignedMemory&) { return values; }
  static const void* round(const float* values, size_t count, const AlignedMemory& to) {
    auto* rounded = reinterpret_cast<BFloat16*>(to.data());
    parallel_for(count, 16384, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) rounded[i] = BFloat16(values[i]);
    });
    return rounded;
  }

  LinearParams p_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  Product forward_, data_, weights_;
  AlignedMemory rounded_;   // weights as bf16, [out, in]
  AlignedMemory gradient_;  // dy as bf16, [batch, out]
};

}  // namespace

std::unique_ptr<LinearOp> make_linear_bf16(const LinearParams& params) {
  return with_storage(params.output, [&]<class T>(T) -> std::unique_ptr<LinearOp> {
    return std::make_unique<DnnlLinearBf16<T>>(params);
  });
}

}  // namespace trainyard::cpu
