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
  explicit Side(Backend& backend) : backend_(backend) {}
  Backend& backend() { return backend_; }
  void* scratch(size_t bytes);
  float* floats(std::span<const float> values);
  /// Memory full of NaN.
  float* poisoned(size_t elements);
  std::vector<float> read(const void* memory, size_t elements);

  /// values: [n, c, h, w], plain.
  void* put(const TensorDesc& desc, std::span<const float> values);
  void* room(const TensorDesc& desc) { return poisoned(desc.elements()); }
  std::vector<float> take(const TensorDesc& desc, const void* memory);

 private:
  Backend& backend_;
  std::vector<std::unique_ptr<BackendMemory>> memory_;
};

/// What a case gives back: named results, plain.
struct Result {
  std::string quantity;
  std::vector<float> values;
};
using Case = std::function<std::vector<Result>(Side&)>;

/// Standard normal numbers, the same for the same seed.
std::vector<float> normal_numbers(size_t count, uint64_t seed);

class Comparison {
 public:
  Comparison(Backend& tested, Backend& reference) : tested_(tested), reference_(reference) {}
  /// bound 0: the same bits.
  void run(const std::string& op, double bound, const Case& body);
  std::vector<SelftestRow> rows;

 private:
  Backend& tested_;
  Backend& reference_;
};

}  // namespace trainyard::selftest_detail
