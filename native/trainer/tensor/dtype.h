// What one number of a tensor is stored as.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

namespace trainyard {

enum class DType { f32, bf16 };

constexpr size_t dtype_bytes(DType dtype) { return dtype == DType::f32 ? 4 : 2; }

/// The upper half of a float: 8 bits of exponent, 8 of precision.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  /// Rounded to the nearest, to even where two are as near; what is not a number stays so.
  explicit BFloat16(float value) {
    const auto wide = std::bit_cast<uint32_t>(value);
    const bool number = (wide & 0x7FFFFFFFU) <= 0x7F800000U;
    bits = static_cast<uint16_t>(number ? (wide + 0x7FFFU + ((wide >> 16) & 1U)) >> 16 : (wide >> 16) | 0x40U);
  }
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

}  // namespace trainyard
