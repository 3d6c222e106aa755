// What the kernels of our products share: how their blocks are cut, and the descriptions of matrices
// that TMA reads.
#pragma once
#include <cuda_runtime_api.h>

#include "trainer/ops/cuda/kernels/hopper.cuh"
#include "trainer/ops/cuda/kernels/report.h"
#include "trainer/ops/cuda/pointwise.h"

namespace trainyard::cuda::hopper {

inline constexpr int kGroup = 128;              // threads of a warpgroup
inline constexpr int kChunk = 64;               // of the depth: 128 bytes of a row, which the swizzle is for
inline constexpr int kChunkBytes = kChunk * 2;  // of one row
inline constexpr int kGroupRows = 64;           // of a warpgroup's product
inline constexpr int kMostShared = 232448;      // bytes of a block: CUDA C++ Programming Guide, compute capability 9.0

/// The stage that is next, and the parity of its barriers.
template <int kStages>
struct Turn {
  int stage = 0;
  uint32_t parity;

  __device__ void next() {
    if (++stage < kStages) return;
    stage = 0;
    parity ^= 1;
  }
};

/// Adds up what each thread of a warp has summed of its own rows, and writes the sums of `kWidth`
/// columns. sums[i]: of column 8 (i / 2) + 2 (lane % 4) + i % 2. to: of the warp's first column.
template <int kWidth>
__device__ __forceinline__ void write_column_sums(float (&sums)[kWidth / 4], int lane, float* to) {
#pragma unroll
  for (int i = 0; i < kWidth / 4; ++i) {
#pragma unroll
    for (int mask = 4; mask < 32; mask *= 2) sums[i] += __shfl_xor_sync(0xFFFFFFFFU, sums[i], mask);
  }
  if (lane >= 4) return;
#pragma unroll
  for (int j = 0; j < kWidth / 8; ++j) {
    *reinterpret_cast<float2*>(to + j * 8 + 2 * lane) = make_float2(sums[2 * j], sums[2 * j + 1]);
  }
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                            const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/// The driver's, which the runtime finds: the library itself is not linked with the driver.
inline Encode find_encode(const Launcher& launcher) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  report_launch(launcher, static_cast<int>(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                                            cudaEnableDefault, &result)));
  return result == cudaDriverEntryPointSuccess ? reinterpret_cast<Encode>(function) : nullptr;
}

/// Of a matrix [rows, columns] of T, in boxes of 64 columns.
template <class T>
bool describe_matrix(Encode encode, CUtensorMap& map, const void* at, unsigned rows, unsigned columns, int box_rows) {
  const cuuint64_t sizes[2] = {columns, rows};
  const cuuint64_t strides[1] = {cuuint64_t{columns} * 2};
  const cuuint32_t box[2] = {kChunk, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t neighbours[2] = {1, 1};
  return encode(&map, kIsHalf<T> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2,
                const_cast<void*>(at), sizes, strides, box, neighbours, CU_TENSOR_MAP_INTERLEAVE_NONE,
                CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace trainyard::cuda::hopper
