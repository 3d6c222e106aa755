#include "trainer/ops/selftest/bench.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trainer/base/random.h"

namespace trainyard::selftest_detail {

double distance(std::span<const float> got, std::span<const float> want) {
  double difference = 0;
  double length = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double apart = double{got[i]} - double{want[i]};
    difference += apart * apart;
    length += double{want[i]} * double{want[i]};
  }
  if (difference == 0) return 0;
  return std::sqrt(difference / length);
}

/// Bits that are no number in any type.
void* Side::scratch(size_t bytes) {
  const std::vector<uint8_t> poison(bytes + 64, 0xFF);
  memory_.push_back(backend_.allocate(poison.size()));
  backend_.from_host(memory_.back()->data(), poison.data(), poison.size());
  return memory_.back()->data();
}

float* Side::floats(std::span<const float> values) {
  memory_.push_back(backend_.allocate(std::max<size_t>(values.size_bytes(), 64)));
  backend_.from_host(memory_.back()->data(), values.data(), values.size_bytes());
  return reinterpret_cast<float*>(memory_.back()->data());
}

float* Side::poisoned(size_t elements) {
  return floats(std::vector<float>(elements, std::numeric_limits<float>::quiet_NaN()));
}

std::vector<float> Side::read(const void* memory, size_t elements) {
  std::vector<float> values(elements);
  backend_.to_host(values.data(), memory, elements * sizeof(float));
  return values;
}

void* Side::put(const TensorDesc& desc, std::span<const float> values) {
  std::vector<float> laid(desc.elements(), 0.0F);
  const Shape& s = desc.shape;
  size_t i = 0;
  for (int n = 0; n < s.n; ++n) {
    for (int c = 0; c < s.c; ++c) {
      for (int h = 0; h < s.h; ++h) {
        for (int w = 0; w < s.w; ++w) laid[desc.index(n, c, h, w)] = values[i++];
      }
    }
  }
  return with_stored(own_, [&]<class T>(T) -> void* {
    std::vector<T> memory(laid.size());
    for (size_t k = 0; k < laid.size(); ++k) memory[k] = static_cast<T>(rounded(laid[k]));
    memory_.push_back(backend_.allocate(std::max<size_t>(memory.size() * sizeof(T), 64)));
    backend_.from_host(memory_.back()->data(), memory.data(), memory.size() * sizeof(T));
    return memory_.back()->data();
  });
}

float Side::rounded(float value) const {
  return with_stored(stored_, [&]<class T>(T) { return static_cast<float>(static_cast<T>(value)); });
}

std::vector<float> Side::take(const TensorDesc& desc, const void* memory) {
  const std::vector<float> laid = with_stored(own_, [&]<class T>(T) {
    std::vector<T> raw(desc.elements());
    backend_.to_host(raw.data(), memory, raw.size() * sizeof(T));
    std::vector<float> wide;
    for (const T& value : raw) wide.push_back(rounded(static_cast<float>(value)));
    return wide;
  });
  const Shape& s = desc.shape;
  std::vector<float> values;
  for (int n = 0; n < s.n; ++n) {
    for (int c = 0; c < s.c; ++c) {
      for (int h = 0; h < s.h; ++h) {
        for (int w = 0; w < s.w; ++w) values.push_back(laid[desc.index(n, c, h, w)]);
      }
    }
  }
  return values;
}

std::vector<float> normal_numbers(size_t count, uint64_t seed) {
  Random random{seed};
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random.normal());
  return numbers;
}

void Comparison::run(const std::string& op, double bound, const Case& body) {
  Side tested(tested_, stored_, stored_);
  Side reference(reference_, stored_, DType::f32);
  // Twice the error of one rounding: bf16 has 8 bits, fp16 has 11.
  const double rounding = stored_ == DType::f32 ? 0 : stored_ == DType::bf16 ? 0x1p-8 : 0x1p-11;
  const double allowed = bound == 0 ? 0 : std::max({bound, 2 * rounding, least_});
  const std::vector<Result> got = body(tested);
  const std::vector<Result> want = body(reference);
  for (size_t i = 0; i < want.size(); ++i) {
    rows.push_back({op + name_, want[i].quantity, distance(got[i].values, want[i].values), allowed});
  }
}

}  // namespace trainyard::selftest_detail
