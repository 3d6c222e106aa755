// The back ends under test, and tensors that live in their memory. A new back end joins by one more
// line in backends.cpp. The CUDA back end is there with its own ops, run on the host (host_cuda.h).
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "trainer/base/parallel.h"
#include "trainer/ops/contract/backend.h"

namespace trainyard::test {

struct BackendCase {
  std::string name;
  std::function<std::unique_ptr<Backend>()> make;
  std::vector<Layout> layouts;  ///< those its ops take
};

const std::vector<BackendCase>& backends();

/// Logical values, [n][c][h][w], in double.
struct Values {
  Shape shape;
  std::vector<double> at;

  Values() = default;
  explicit Values(const Shape& s) : shape(s), at(static_cast<size_t>(s.elements()), 0.0) {}
  double& operator()(int n, int c, int h, int w) { return at[index(n, c, h, w)]; }
  double operator()(int n, int c, int h, int w) const { return at[index(n, c, h, w)]; }
  size_t index(int n, int c, int h, int w) const {
    return ((static_cast<size_t>(n) * shape.c + c) * shape.h + h) * shape.w + w;
  }
};

/// Random values that fp32 holds exactly: normal, around `mean`.
Values random_values(const Shape& shape, uint64_t seed, double mean = 0, double deviation = 1);
std::vector<double> random_numbers(size_t count, uint64_t seed, double mean = 0, double deviation = 1);

/// The types that a back end stores, fp32 first.
std::vector<DType> stored_types(const Backend& backend);
const char* type_name(DType dtype);
/// What is left of the values when they are stored so.
Values as_stored(Values values, DType dtype);
/// The largest relative error of storing a number; of fp32, that of a double which holds one.
double storing_error(DType dtype);

/// One back end on one number of threads, with the memory its tests ask for.
class Bench {
 public:
  Bench(const BackendCase& backend, int threads);

  Backend& backend() { return *backend_; }
  /// Scratch of `bytes`, filled with signalling garbage so that nothing may rely on zeros.
  void* scratch(size_t bytes);
  float* floats(const std::vector<double>& values);
  std::vector<double> read(const float* memory, size_t count);
  const uint64_t* number(uint64_t value);

  /// The tensor in its layout and type, padding zero.
  void* put(const TensorDesc& desc, const Values& values);
  /// Memory for a tensor that an op is to overwrite, full of garbage.
  void* buffer(const TensorDesc& desc) { return scratch(desc.bytes()); }
  /// Reads a tensor back. Fails the test where channel padding is not zero.
  Values take(const TensorDesc& desc, const void* memory);

 private:
  void* allocate(size_t bytes);
  std::unique_ptr<Backend> backend_;
  std::vector<std::unique_ptr<BackendMemory>> memory_;
};

/// Every back end at one and at two threads.
class ContractTest : public testing::TestWithParam<std::tuple<size_t, int>> {
 protected:
  ContractTest() : bench_(backends()[std::get<0>(GetParam())], std::get<1>(GetParam())) {}
  ~ContractTest() override { set_threads(1); }
  const BackendCase& backend_case() const { return backends()[std::get<0>(GetParam())]; }
  Bench bench_;
};

std::string case_name(const testing::TestParamInfo<std::tuple<size_t, int>>& info);

// Instantiates a suite that derives from ContractTest.
#define TRAINYARD_FOR_EVERY_BACKEND(suite)                                                                    \
  INSTANTIATE_TEST_SUITE_P(                                                                                   \
      Backends, suite,                                                                                        \
      testing::Combine(testing::Range<size_t>(0, trainyard::test::backends().size()), testing::Values(1, 2)), \
      trainyard::test::case_name)

/// |got - want| <= bound, element by element.
void expect_within(const std::vector<double>& got, const std::vector<double>& want, const std::vector<double>& bound,
                   const std::string& what);
/// |got - want| <= tolerance * (the largest |want|): for values that were computed from one
/// another.
void expect_close(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                  const std::string& what);

/// d(sum(weights * f()))/d(parameter[i]) by central differences, for up to `most` elements spread
/// over the parameter; compared with `gradient`. f must depend on `parameter` smoothly.
void expect_numeric_gradient(std::vector<double>& parameter, const std::vector<double>& gradient,
                             const std::function<double()>& loss, double tolerance, const std::string& what,
                             size_t most = 24);

/// Half of the distance from 1 to the next number in fp32: the relative error of one rounding.
inline constexpr double kRounding = 0x1p-24;

}  // namespace trainyard::test
