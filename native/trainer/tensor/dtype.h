// What one number of a tensor is stored as.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/host_device.h"

namespace trainyard {

enum class DType { f32, bf16, f16 };

constexpr size_t dtype_bytes(DType dtype) { return dtype == DType::f32 ? 4 : 2; }

/// The bits of a float, and back; std::bit_cast is not there on a device.
TRAINYARD_HOST_DEVICE inline uint32_t float_bits(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}
TRAINYARD_HOST_DEVICE inline float float_of_bits(uint32_t bits) {
  float value = 0;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/// The upper half of a float: 8 bits of exponent, 8 of precision.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  /// Rounded to the nearest, to even where two are as near; what is not a number stays so.
  TRAINYARD_HOST_DEVICE explicit BFloat16(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#else
    const uint32_t wide = float_bits(value);
    const bool number = (wide & 0x7FFFFFFFU) <= 0x7F800000U;
    bits = static_cast<uint16_t>(number ? (wide + 0x7FFFU + ((wide >> 16) & 1U)) >> 16 : (wide >> 16) | 0x40U);
#endif
  }
  TRAINYARD_HOST_DEVICE explicit operator float() const { return float_of_bits(uint32_t{bits} << 16); }
};

/// IEEE 754's binary16: 5 bits of exponent, 11 of precision. From 2^-24 to 65504; what is larger
/// becomes infinite.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  /// Rounded to the nearest, to even where two are as near; what is not a number stays so.
  TRAINYARD_HOST_DEVICE explicit Float16(float value) {
#ifdef __CUDA_ARCH__
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#else
    const uint32_t wide = float_bits(value);
    const uint32_t size = wide & 0x7FFFFFFFU;
    uint32_t half = 0;
    if (size > 0x7F800000U) {
      half = 0x7E00U;
    } else if (size >= 0x47800000U) {  // 2^16
      half = 0x7C00U;
    } else if (size <
               0x38800000U) {  // 2^-14: below it steps are of 2^-24, which is the last bit of what lies above 0.5
      half = float_bits(float_of_bits(size) + 0.5F) - 0x3F000000U;
    } else {
      half = (size - 0x38000000U + 0xFFFU + ((size >> 13) & 1U)) >> 13;
    }
    bits = static_cast<uint16_t>(half | ((wide >> 16) & 0x8000U));
#endif
  }
  TRAINYARD_HOST_DEVICE explicit operator float() const {
#ifdef __CUDA_ARCH__
    float value = 0;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
#else
    const uint32_t sign = (uint32_t{bits} & 0x8000U) << 16;
    const uint32_t size = (uint32_t{bits} & 0x7FFFU) << 13;
    uint32_t wide = size + 0x38000000U;
    if (size >= 0x0F800000U) {  // infinite, or not a number
      wide = size + 0x70000000U;
    } else if (size < 0x00800000U) {  // 2^-14 and what lies above it, less 2^-14
      wide = float_bits(float_of_bits(size + 0x38800000U) - 0x1p-14F);
    }
    return float_of_bits(wide | sign);
#endif
  }
};

/// Calls body(T()) with the type in which numbers of `dtype` are stored.
template <class Body>
auto with_stored(DType dtype, const Body& body) {
  if (dtype == DType::bf16) return body(BFloat16());
  if (dtype == DType::f16) return body(Float16());
  return body(float());
}

}  // namespace trainyard
