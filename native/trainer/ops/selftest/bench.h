// Two back ends side by side: the same values in, the results compared.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainer/ops/contract/backend.h"
#include "trainer/ops/selftest/selftest.h"

namespace trainyard::selftest_detail {

/// One back end and the memory a case asks of it.
class Side {
 public:
  /// What the case is about is stored as `stored`, here as `own`: the same, or fp32 in the
  /// reference, whose results are rounded when they are taken.
  Side(Backend& backend, DType stored, DType own) : backend_(backend), stored_(stored), own_(own) {}
  DType dtype() const { return own_; }
  TensorDesc channels_last(const Shape& shape) const { return {shape, Layout::nhwc, own_}; }
  TensorDesc plain(const Shape& shape) const { return {shape, Layout::nchw, own_}; }
  Backend& backend() { return backend_; }
  void* scratch(size_t bytes);
  float* floats(std::span<const float> values);
  /// Memory full of NaN.
  float* poisoned(size_t elements);
  std::vector<float> read(const void* memory, size_t elements);

  /// values: [n, c, h, w], plain.
  void* put(const TensorDesc& desc, std::span<const float> values);
  void* buffer(const TensorDesc& desc) { return scratch(desc.bytes()); }
  std::vector<float> take(const TensorDesc& desc, const void* memory);
  /// To what the case stores.
  float rounded(float value) const;

 private:
  Backend& backend_;
  DType stored_, own_;
  std::vector<std::unique_ptr<BackendMemory>> memory_;
};

/// What a case gives back: named results, plain.
struct Result {
  std::string quantity;
  std::vector<float> values;
};
using Case = std::function<std::vector<Result>(Side&)>;

/// |got - want| / |want|, by norm; 0 where there is no difference at all.
double distance(std::span<const float> got, std::span<const float> want);

/// Standard normal numbers, the same for the same seed.
std::vector<float> normal_numbers(size_t count, uint64_t seed);

class Comparison {
 public:
  Comparison(Backend& tested, Backend& reference) : tested_(tested), reference_(reference) {}
  /// What the cases from here on store, and how their names say so (" in bf16").
  void store(DType dtype, const std::string& name) {
    stored_ = dtype;
    name_ = name;
  }
  /// From here on products may err by so much.
  void widen(double bound) { least_ = bound; }
  /// bound: of fp32; 0: the same bits.
  void run(const std::string& op, double bound, const Case& body);
  std::vector<SelftestRow> rows;

 private:
  Backend& tested_;
  Backend& reference_;
  DType stored_ = DType::f32;
  std::string name_;
  double least_ = 0;
};

}  // namespace trainyard::selftest_detail
