// How the kernels of kernels/pointwise/pointwise_gradient.cu are cut, what their shared memory holds, and what
// noted bits say to a thread.
#pragma once
#include "trainer/ops/cuda/kernels/pointwise/pointwise.cuh"

namespace trainyard::cuda::hopper::gradient {

inline constexpr int kThreads = 2 * kGroup + 64;

/// What there is of an end. kMergesInner: an `inner` end with PointwiseMerge.
template <GradientEndKind kEndKind, bool kMergesInner = false>
struct EndOf {
  static constexpr GradientEndKind kKind = kEndKind;
  static constexpr bool kMerges = kMergesInner;
  static constexpr bool kAdds = kKind != GradientEndKind::inner;
  static constexpr int kNorms = norms_of(kKind);
  static constexpr int kSums = 1 + kNorms;
  static constexpr int kFirstX = kAdds ? 1 : 0;
  static constexpr int kBrought = kFirstX + kNorms;  ///< tensors: the other gradient, then x
  /// Of a channel: means, or mean, scale and beta, and the bias behind them.
  static constexpr int kConstants = kAdds ? kNorms : kMerges ? 4 : 3;
  static constexpr int kParts = kMerges ? 2 : 1;  ///< of the depth
  static_assert(!kMerges || kKind == GradientEndKind::inner);
};

/// The elements of an array that may need none.
template <int kCount>
inline constexpr int kAtLeastOne = kCount > 0 ? kCount : 1;

template <class E>
struct Maps {
  CUtensorMap a[E::kParts];          // [rows, inner], or [rows, inner - columns] and [rows, columns]
  CUtensorMap b;                     // [columns, inner]
  CUtensorMap brought[E::kBrought];  // [rows, columns]
  CUtensorMap g;                     // [rows, columns]
};

/// The arguments of a launch beside its matrices.
template <class E>
struct Rest {
  const uint32_t* passed;                              // [rows, columns / 32]
  const float* constants[kAtLeastOne<E::kConstants>];  // [columns]
  float* sums;                                         // [kSums, sums_rows, columns]
  int rows, columns, tiles, blocks_across, sums_rows;
};

/// kStages: chunks of pixels on their way. kSlots: tiles of a warpgroup that are brought, worked on
/// and written.
template <class E, int kInner, int kWidth, bool kAcross, int kStages, int kSlots>
struct Plan : Cut<kInner, kWidth, kAcross> {
  using C = Cut<kInner, kWidth, kAcross>;
  static constexpr int kSlot = E::kBrought * C::kTile;
  static constexpr int kConstants = E::kConstants * C::kColumns * int{sizeof(float)};
  // 1024 for the alignment, 512 for the barriers.
  static constexpr int kBytes = C::kWeights + kStages * C::kStage + 2 * kSlots * kSlot + kConstants + 1024 + 512;
  static_assert(kBytes <= kMostShared);
  static_assert(8 * (2 * kStages + 4 * kSlots + 1) <= 512);
};

/// Where a block's shared memory holds what.
template <class P, int kStages, int kSlots>
struct Places {
  uint32_t weights, stages, slots, constants, barriers;

  __device__ explicit Places(const uint8_t* memory)
      : weights((address(memory) + 1023) & ~1023U),
        stages(weights + P::kWeights),
        slots(stages + kStages * P::kStage),
        constants(slots + 2 * kSlots * P::kSlot),
        barriers(constants + P::kConstants) {}
  __device__ uint32_t stage(int s) const { return stages + s * P::kStage; }
  __device__ uint32_t slot(int group, int s) const { return slots + (group * kSlots + s) * P::kSlot; }
  __device__ uint32_t full(int s) const { return barriers + 8 * s; }
  __device__ uint32_t empty(int s) const { return barriers + 8 * (kStages + s); }
  __device__ uint32_t brought(int group, int s) const { return barriers + 8 * (2 * kStages + group * kSlots + s); }
  __device__ uint32_t freed(int group, int s) const { return barriers + 8 * (2 * kStages + (2 + group) * kSlots + s); }
  __device__ uint32_t weights_full() const { return barriers + 8 * (2 * kStages + 4 * kSlots); }
};

__device__ __forceinline__ Two load_two(uint32_t at) {
  Two two;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(two.low), "=f"(two.high) : "r"(at));
  return two;
}

/// Whether the numbers of a thread's two rows passed, those of row lane / 4 of the warp's 16 and of 8
/// rows below: bit 2 e is of column 8 e + 2 (lane % 4), and the next bit of the next column.
template <int kWidth>
struct PassedBits {
  uint32_t of[2] = {};

  /// row: the first of the two.
  __device__ void load(const uint32_t* passed, int row, int column, int rows, int columns, int lane) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at = row + 8 * half;
      if (at >= rows) continue;
      const uint32_t* from = passed + (size_t{1} * at * columns + column) / 32;
      if constexpr (kWidth == 128) {
        const uint4 four = __ldg(reinterpret_cast<const uint4*>(from));
        of[half] =
            pairs(four.x, lane) | pairs(four.y, lane) << 8 | pairs(four.z, lane) << 16 | pairs(four.w, lane) << 24;
      } else {
        const uint2 two = __ldg(reinterpret_cast<const uint2*>(from));
        of[half] = pairs(two.x, lane) | pairs(two.y, lane) << 8;
      }
    }
  }

 private:
  /// The two bits of each byte that are this lane's, beside one another.
  __device__ static uint32_t pairs(uint32_t word, int lane) {
    const uint32_t own = word >> (lane % 4 * 2) & 0x03030303U;
    return (own | own >> 6 | own >> 12 | own >> 18) & 0xFFU;
  }
};

}  // namespace trainyard::cuda::hopper::gradient
