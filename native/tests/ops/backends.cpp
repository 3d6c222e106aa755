#include "tests/ops/backends.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/ops/host/host_cuda.h"
#include "trainer/base/random.h"

namespace trainyard::test {

const std::vector<BackendCase>& backends() {
  static const std::vector<BackendCase> list{
      {"cpu", make_cpu_backend, {Layout::nchw16c, Layout::nchw8c, Layout::nhwc, Layout::nchw}},
      {"cuda_arithmetic", make_host_cuda, {Layout::nhwc}}};
  return list;
}

std::vector<double> random_numbers(size_t count, uint64_t seed, double mean, double deviation) {
  Random random{seed};
  std::vector<double> numbers(count);
  for (double& number : numbers) number = static_cast<float>(mean + deviation * random.normal());
  return numbers;
}

Values random_values(const Shape& shape, uint64_t seed, double mean, double deviation) {
  Values values;
  values.shape = shape;
  values.at = random_numbers(static_cast<size_t>(shape.elements()), seed, mean, deviation);
  return values;
}

namespace {

/// Calls body(T()) with the type in which numbers of `dtype` are stored.
template <class Body>
auto with_type(DType dtype, const Body& body) {
  if (dtype == DType::bf16) return body(BFloat16());
  return dtype == DType::f16 ? body(Float16()) : body(float());
}

}  // namespace

std::vector<DType> stored_types(const Backend& backend) {
  std::vector<DType> types;
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    if (backend.stores(dtype)) types.push_back(dtype);
  }
  return types;
}

const char* type_name(DType dtype) {
  if (dtype == DType::bf16) return "bf16";
  return dtype == DType::f16 ? "fp16" : "fp32";
}

Values as_stored(Values values, DType dtype) {
  with_type(dtype, [&]<class T>(T) {
    for (double& value : values.at) value = static_cast<float>(T(static_cast<float>(value)));
  });
  return values;
}

double storing_error(DType dtype) {
  if (dtype == DType::bf16) return 0x1p-8;
  return dtype == DType::f16 ? 0x1p-11 : 0;
}

Bench::Bench(const BackendCase& backend, int threads) {
  set_threads(threads);
  backend_ = backend.make();
}

void* Bench::allocate(size_t bytes) {
  memory_.push_back(backend_->allocate(std::max<size_t>(bytes, 64)));
  return memory_.back()->data();
}

void* Bench::scratch(size_t bytes) {
  void* memory = allocate(bytes);
  const std::vector<float> garbage(bytes / sizeof(float), std::numeric_limits<float>::quiet_NaN());
  backend_->from_host(memory, garbage.data(), garbage.size() * sizeof(float));
  return memory;
}

float* Bench::floats(const std::vector<double>& values) {
  std::vector<float> host(values.begin(), values.end());
  void* memory = allocate(host.size() * sizeof(float));
  backend_->from_host(memory, host.data(), host.size() * sizeof(float));
  return static_cast<float*>(memory);
}

std::vector<double> Bench::read(const float* memory, size_t count) {
  std::vector<float> host(count);
  backend_->synchronize();
  backend_->to_host(host.data(), memory, count * sizeof(float));
  return {host.begin(), host.end()};
}

const uint64_t* Bench::number(uint64_t value) {
  void* memory = scratch(sizeof(value));
  backend_->from_host(memory, &value, sizeof(value));
  return static_cast<const uint64_t*>(memory);
}

void* Bench::put(const TensorDesc& desc, const Values& values) {
  std::vector<double> laid(desc.elements(), 0.0);
  const Shape& s = desc.shape;
  for (int n = 0; n < s.n; ++n) {
    for (int c = 0; c < s.c; ++c) {
      for (int h = 0; h < s.h; ++h) {
        for (int w = 0; w < s.w; ++w) laid[desc.index(n, c, h, w)] = values(n, c, h, w);
      }
    }
  }
  return with_type(desc.dtype, [&]<class T>(T) -> void* {
    std::vector<T> host;
    host.reserve(laid.size());
    for (const double value : laid) host.push_back(T(static_cast<float>(value)));
    void* memory = allocate(desc.bytes());
    backend_->from_host(memory, host.data(), desc.bytes());
    return memory;
  });
}

Values Bench::take(const TensorDesc& desc, const void* memory) {
  std::vector<double> laid = with_type(desc.dtype, [&]<class T>(T) -> std::vector<double> {
    std::vector<T> host(desc.elements());
    backend_->synchronize();
    backend_->to_host(host.data(), memory, desc.bytes());
    std::vector<double> wide;
    wide.reserve(host.size());
    for (const T value : host) wide.push_back(static_cast<float>(value));
    return wide;
  });
  Values values(desc.shape);
  const Shape& s = desc.shape;
  for (int n = 0; n < s.n; ++n) {
    for (int c = 0; c < s.c; ++c) {
      for (int h = 0; h < s.h; ++h) {
        for (int w = 0; w < s.w; ++w) {
          values(n, c, h, w) = laid[desc.index(n, c, h, w)];
          laid[desc.index(n, c, h, w)] = 0;
        }
      }
    }
  }
  for (const double padding : laid) EXPECT_EQ(padding, 0.0) << "in the padding of " << layout_name(desc.layout);
  return values;
}

std::string case_name(const testing::TestParamInfo<std::tuple<size_t, int>>& info) {
  return backends()[std::get<0>(info.param)].name + "_" + std::to_string(std::get<1>(info.param)) + "threads";
}

void expect_within(const std::vector<double>& got, const std::vector<double>& want, const std::vector<double>& bound,
                   const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    // Written so that a NaN fails.
    if (!(std::abs(got[i] - want[i]) <= bound[i])) {
      FAIL() << what << " [" << i << "]: got " << got[i] << ", want " << want[i] << " within " << bound[i];
    }
  }
}

void expect_close(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                  const std::string& what) {
  double largest = 0;
  for (const double value : want) largest = std::max(largest, std::abs(value));
  expect_within(got, want, std::vector<double>(want.size(), tolerance * largest), what);
}

void expect_numeric_gradient(std::vector<double>& parameter, const std::vector<double>& gradient,
                             const std::function<double()>& loss, double tolerance, const std::string& what,
                             size_t most) {
  ASSERT_EQ(parameter.size(), gradient.size()) << what;
  double largest = 0;
  for (const double value : gradient) largest = std::max(largest, std::abs(value));
  // An odd stride meets every channel and position sooner or later.
  const size_t stride = parameter.size() <= most ? 1 : (parameter.size() / most) | 1U;
  constexpr double kStep = 1e-5;
  for (size_t i = 0; i < parameter.size(); i += stride) {
    const double kept = parameter[i];
    parameter[i] = kept + kStep;
    const double above = loss();
    parameter[i] = kept - kStep;
    const double below = loss();
    parameter[i] = kept;
    const double numeric = (above - below) / (2 * kStep);
    if (!(std::abs(gradient[i] - numeric) <= tolerance * largest)) {
      FAIL() << what << " [" << i << "]: gradient " << gradient[i] << ", differences " << numeric << ", largest "
             << largest;
    }
  }
}

}  // namespace trainyard::test
