// What the kernels of our products share: how their blocks are cut, and the descriptions of matrices
// that TMA reads.
#pragma once
#include <cuda_runtime_api.h>

#include "trainer/ops/cuda/convolution/pointwise.h"
#include "trainer/ops/cuda/kernels/pointwise/hopper.cuh"
#include "trainer/ops/cuda/kernels/report.h"

namespace trainyard::cuda::hopper {

inline constexpr int kGroup = 128;              // threads of a warpgroup
inline constexpr int kChunk = 64;               // of the depth: 128 bytes of a row, which the swizzle is for
inline constexpr int kChunkBytes = kChunk * 2;  // of one row
inline constexpr int kGroupRows = 64;           // of a warpgroup's product
inline constexpr int kBoxBytes = kGroupRows * kChunkBytes;  // 64 rows of 64 numbers
inline constexpr int kMostShared = 232448;  // bytes of a block: CUDA C++ Programming Guide, compute capability 9.0

/// How a block cuts a product. kInner: the depth. kWidth: columns of a warpgroup. kAcross: both
/// warpgroups take the same 64 rows and neighbouring columns; otherwise 64 rows each and the same
/// columns.
template <int kInner, int kWidth, bool kAcross>
struct Cut {
  static constexpr int kOwnColumns = kWidth;
  static constexpr bool kSameRows = kAcross;
  static constexpr int kRows = kAcross ? kGroupRows : 2 * kGroupRows;
  static constexpr int kColumns = kAcross ? 2 * kWidth : kWidth;
  static constexpr int kChunks = kInner / kChunk;
  static constexpr int kWeights = kChunks * kColumns * kChunkBytes;
  static constexpr int kStage = kRows * kChunkBytes;
  static constexpr int kTile = kGroupRows * kWidth * 2;
  static constexpr unsigned kPartials = kAcross ? 4 : 8;
};

/// What a thread of the warpgroups has of a block's tile.
template <class P>
struct Share {
  int lane;
  int group;    // the warpgroup
  int quarter;  // the warp, of the group
  bool speaks;  // for its group
  int column;   // the first of the group's, in the block
  int row;      // the first of the group's, in the tile
  uint32_t a_offset, b_offset;
  uint32_t row_offset, beside, swizzle;

  __device__ Share(int warp, int lane)
      : lane(lane),
        group(warp / 4),
        quarter(warp % 4),
        speaks(threadIdx.x % kGroup == 0),
        column(P::kSameRows ? group * P::kOwnColumns : 0),
        row(P::kSameRows ? 0 : group * kGroupRows),
        a_offset(row * kChunkBytes),
        b_offset(column * kChunkBytes),
        // This lane's row of its matrix of 8 x 8; matrices 0 and 1 lie below each other, 2 and 3
        // beside them.
        row_offset((quarter * 16 + (lane / 8 % 2) * 8 + lane % 8) * 128),
        beside(lane / 16),
        swizzle(lane % 8) {}
  /// Where this lane's row of the matrices of columns 8 j to 8 j + 15 lies in a tile of the group.
  __device__ uint32_t place(uint32_t tile, int j) const {
    return tile + (j / 8) * kBoxBytes + row_offset + (((j % 8) + beside) ^ swizzle) * 16;
  }
  /// Of the partial sums: the warp's, in the block that takes the tiles from `first` on.
  __device__ size_t partial(int first) const { return first * P::kPartials + (P::kSameRows ? 0 : group * 4) + quarter; }
};

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

/// The tiles of a block: every step-th from `first` on. across: which tile of columns it has.
struct Tiles {
  int across, first, step, end;

  __device__ Tiles(int blocks_across, int end)
      : across(blockIdx.x % blocks_across),
        first(blockIdx.x / blocks_across),
        step(gridDim.x / blocks_across),
        end(end) {}
};

template <int kStages, class Places>
__device__ __forceinline__ void make_stages(const Places& at) {
  for (int s = 0; s < kStages; ++s) {
    barrier_init(at.full(s), 1);
    barrier_init(at.empty(s), 8);  // a lane of each warp that multiplies
  }
  barrier_init(at.weights_full(), 1);
}

/// The pixels of a product: one matrix [rows, inner], or two beside one another that have the depth
/// together.
template <int kParts>
struct Pixels {
  const CUtensorMap* parts;
  int first_chunks = 0;  // of the first of two

  /// Loads chunk c of the depth of a tile's rows, from `row` on.
  __device__ void load(uint32_t to, uint32_t barrier, int c, int row) const {
    if constexpr (kParts == 1) {
      load_box(to, parts, barrier, c * kChunk, row);
    } else {
      const bool second = c >= first_chunks;
      load_box(to, second ? parts + 1 : parts, barrier, (second ? c - first_chunks : c) * kChunk, row);
    }
  }
};

/// Brings a block's weights, and all its pixels chunk by chunk. By one thread.
template <class P, int kStages, class Places, int kParts>
__device__ __forceinline__ void bring_factors(const Places& at, const Pixels<kParts>& a, const CUtensorMap* b,
                                              const Tiles& tiles) {
  expect(at.weights_full(), P::kWeights);
  for (int c = 0; c < P::kChunks; ++c) {
    load_box(at.weights + c * P::kColumns * kChunkBytes, b, at.weights_full(), c * kChunk, tiles.across * P::kColumns);
  }
  Turn<kStages> turn{.parity = 1};
  for (int tile = tiles.first; tile < tiles.end; tile += tiles.step) {
    for (int c = 0; c < P::kChunks; ++c, turn.next()) {
      wait(at.empty(turn.stage), turn.parity);
      expect(at.full(turn.stage), P::kStage);
      a.load(at.stage(turn.stage), at.full(turn.stage), c, tile * P::kRows);
    }
  }
}

/// Starts a group's product of a tile, which finish_product() ends. Returns the last stage.
template <class T, class P, int kStages, class Places>
__device__ __forceinline__ int start_product(const Places& at, const Share<P>& share, Turn<kStages>& turn,
                                             float (&acc)[P::kOwnColumns / 2]) {
  hold(acc);
  int before = 0;
#pragma unroll
  for (int c = 0; c < P::kChunks; ++c, turn.next()) {
    wait(at.full(turn.stage), turn.parity);
    __syncwarp();
    const uint64_t a = describe(at.stage(turn.stage) + share.a_offset);
    const uint64_t b = describe(at.weights + c * P::kColumns * kChunkBytes + share.b_offset);
    begin_products();
#pragma unroll
    for (int k = 0; k < 4; ++k) multiply_add<T>(acc, a + k * 2, b + k * 2, c != 0 || k != 0);
    commit_products();
    if (c > 0) {
      wait_for_products<1>();
      if (share.lane == 0) arrive(at.empty(before));
    }
    before = turn.stage;
  }
  return before;
}

template <class P, class Places>
__device__ __forceinline__ void finish_product(const Places& at, const Share<P>& share, int stage,
                                               float (&acc)[P::kOwnColumns / 2]) {
  wait_for_products<0>();
  hold(acc);
  if (share.lane == 0) arrive(at.empty(stage));
}

/// Writes a group's tile from shared memory, once all of the group have written it there.
template <class P>
__device__ __forceinline__ void store_tile(const CUtensorMap* to, const Share<P>& share, uint32_t tile, int column,
                                           int row) {
  publish_to_copies();
  meet<kGroup>(1 + share.group);
  if (!share.speaks) return;
#pragma unroll
  for (int box = 0; box < P::kOwnColumns / 64; ++box) store_box(to, tile + box * kBoxBytes, column + box * 64, row);
  commit_stores();
}

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
