// Loads and stores of 16 bytes, and what threads of different blocks tell one another.
#pragma once
#include "trainer/ops/cuda/math/host_device.h"

namespace trainyard::cuda {

/// How many numbers 16 bytes hold: 8 of 16 bits, 4 of fp32.
template <class T>
inline constexpr unsigned kWide = 16 / sizeof(T);

template <class T>
inline constexpr bool is_bfloat16 = false;
template <>
inline constexpr bool is_bfloat16<BFloat16> = true;

/// As many numbers as one load brings, two of 16 bits in a word.
template <class T>
struct alignas(16) Wide {
  uint32_t words[4];

  TRAINYARD_HD float operator[](unsigned v) const {
    const uint32_t word = words[v / 2];
    if constexpr (is_bfloat16<T>) return float_of_bits(v % 2 == 0 ? word << 16U : word & 0xFFFF0000U);
    return number<T>(v % 2 == 0 ? word : word >> 16U);
  }
  /// Rounded to what they are stored in.
  TRAINYARD_HD static Wide of(const float (&values)[kWide<T>]) {
    Wide wide;
    TRAINYARD_UNROLL
    for (unsigned i = 0; i < 4; ++i) wide.words[i] = pair<T>(values[2 * i], values[2 * i + 1]);
    return wide;
  }

 private:
  /// The number in the lower half.
  template <class U>
  TRAINYARD_HD static float number(uint32_t bits) {
    U stored;
    stored.bits = static_cast<uint16_t>(bits);
    return static_cast<float>(stored);
  }
  template <class U>
  TRAINYARD_HD static uint32_t pair(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t word = 0;
    if constexpr (is_bfloat16<U>) {
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    } else {
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    }
    return word;
#else
    return uint32_t{U(low).bits} | uint32_t{U(high).bits} << 16U;
#endif
  }
};
template <>
struct alignas(16) Wide<float> {
  float at[4];

  TRAINYARD_HD float operator[](unsigned v) const { return at[v]; }
  TRAINYARD_HD static Wide of(const float (&values)[4]) { return {{values[0], values[1], values[2], values[3]}}; }
};

/// `from`: 16-byte aligned.
template <class T>
TRAINYARD_HD Wide<T> load_wide(const T* from) {
  return *reinterpret_cast<const Wide<T>*>(from);
}
template <class T>
TRAINYARD_HD void store_wide(T* to, const Wide<T>& value) {
  *reinterpret_cast<Wide<T>*>(to) = value;
}

/// Whether 16-byte loads from there are possible.
inline bool is_wide_aligned(const void* memory) { return reinterpret_cast<uintptr_t>(memory) % 16 == 0; }

/// Two sums that another block may have written during this kernel: past this multiprocessor's own
/// cache. `from`: 16-byte aligned.
struct alignas(16) TwoSums {
  double first, second;
};
TRAINYARD_HD TwoSums load_fresh(const double* from) {
#if defined(__CUDA_ARCH__)
  TwoSums sums;
  asm volatile("ld.global.cg.v2.f64 {%0, %1}, [%2];" : "=d"(sums.first), "=d"(sums.second) : "l"(from) : "memory");
  return sums;
#else
  return {from[0], from[1]};
#endif
}

/// What this thread wrote is there for whoever takes a later ticket.
TRAINYARD_HD void publish() {
#if defined(__CUDA_ARCH__)
  __threadfence();
#endif
}

/// How many tickets of `counter` were taken before this one.
TRAINYARD_HD unsigned take_ticket(unsigned* counter) {
#if defined(__CUDA_ARCH__)
  const unsigned before = atomicAdd(counter, 1U);
  __threadfence();
  return before;
#else
  return (*counter)++;
#endif
}

}  // namespace trainyard::cuda
