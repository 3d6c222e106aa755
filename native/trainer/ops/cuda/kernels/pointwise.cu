// Convolutions of one pixel with batch norm's sums, for Hopper: tensor cores by wgmma, all memory
// by TMA.
//
// A block keeps the weights of its channels in shared memory and takes one tile of pixels after
// another. One warp brings pixels, two warpgroups multiply, round, and write through shared memory.
// The sums of what they wrote stay in registers over all tiles of the block, and in the end every
// warp writes its own row of them. Nothing depends on the order in which blocks run.
#include "trainer/ops/cuda/kernels/pointwise.cuh"

namespace trainyard::cuda {

namespace {

using namespace hopper;

constexpr int kThreads = 2 * kGroup + 32;

struct Maps {
  CUtensorMap a;  // [rows, inner]
  CUtensorMap b;  // [columns, inner]
  CUtensorMap d;  // [rows, columns]
};

/// kInner: input channels. kWidth: output channels of a warpgroup. kAcross: both warpgroups take
/// the same 64 rows and neighbouring channels; otherwise 64 rows each and the same channels.
/// kStages: chunks of pixels on their way. kOuts: tiles of a warpgroup that are being written.
/// kInTurn: one warpgroup multiplies while the other writes.
template <int kInner, int kWidth, bool kAcross, int kStages, int kOuts, bool kInTurn>
struct Plan {
  static constexpr int kRows = kAcross ? kGroupRows : 2 * kGroupRows;
  static constexpr int kColumns = kAcross ? 2 * kWidth : kWidth;
  static constexpr int kChunks = kInner / kChunk;
  static constexpr int kWeights = kChunks * kColumns * kChunkBytes;
  static constexpr int kStage = kRows * kChunkBytes;
  static constexpr int kOut = kGroupRows * kWidth * 2;
  // 1024 for the alignment, 1024 for the barriers.
  static constexpr int kBytes = kWeights + kStages * kStage + 2 * kOuts * kOut + 1024 + 1024;
  static constexpr unsigned kPartials = kAcross ? 4 : 8;
  static_assert(kBytes <= kMostShared);
  // The second warpgroup begins a tile when the first has multiplied all of it.
  static_assert(!kInTurn || kStages >= kChunks);
};

/// Where a block's shared memory holds what.
template <class P, int kStages>
struct Places {
  uint32_t weights, stages, outs, barriers;

  __device__ explicit Places(const uint8_t* memory)
      : weights((address(memory) + 1023) & ~1023U),
        stages(weights + P::kWeights),
        outs(stages + kStages * P::kStage),
        barriers(outs + P::kBytes - 2048 - P::kWeights - kStages * P::kStage) {}
  __device__ uint32_t stage(int s) const { return stages + s * P::kStage; }
  __device__ uint32_t full(int s) const { return barriers + 8 * s; }
  __device__ uint32_t empty(int s) const { return barriers + 8 * (kStages + s); }
  __device__ uint32_t weights_full() const { return barriers + 16 * kStages; }
};

/// The sums of a warpgroup's columns over the rows of this thread: of a column's numbers and of
/// their squares.
template <int kWidth>
struct ColumnSums {
  static constexpr int kOwn = kWidth / 4;
  float sum[kOwn] = {};
  float squares[kOwn] = {};

  /// packed[i]: columns 8 (i / 2) + 2 (lane % 4) and the next, of row lane / 4, or of 8 rows below.
  template <class T>
  __device__ void add(const uint32_t (&packed)[kOwn]) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const auto [low, high] = unpack<T>(packed[i]);
      const int at = i / 2 * 2;
      sum[at] += low;
      sum[at + 1] += high;
      squares[at] = fmaf(low, low, squares[at]);
      squares[at + 1] = fmaf(high, high, squares[at + 1]);
    }
  }
};

template <class T, int kInner, int kWidth, bool kAcross, int kStages, int kOuts, bool kInTurn>
__global__ void __launch_bounds__(kThreads, 1)
    pointwise_kernel(const __grid_constant__ Maps maps, float* sums, int tiles, int blocks_across, int columns,
                     int sums_rows) {
  using P = Plan<kInner, kWidth, kAcross, kStages, kOuts, kInTurn>;
  extern __shared__ uint8_t memory[];
  const Places<P, kStages> at(memory);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int across = blockIdx.x % blocks_across;
  const int first = blockIdx.x / blocks_across;
  const int step = gridDim.x / blocks_across;

  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      barrier_init(at.full(s), 1);
      barrier_init(at.empty(s), 8);  // a lane of each warp that multiplies
    }
    barrier_init(at.weights_full(), 1);
    barriers_are_made();
  }
  __syncthreads();

  if (warp == 8) {
    if (lane != 0) return;
    expect(at.weights_full(), P::kWeights);
    for (int c = 0; c < P::kChunks; ++c) {
      load_box(at.weights + c * P::kColumns * kChunkBytes, &maps.b, at.weights_full(), c * kChunk,
               across * P::kColumns);
    }
    Turn<kStages> turn{.parity = 1};
    for (int tile = first; tile < tiles; tile += step) {
      for (int c = 0; c < P::kChunks; ++c, turn.next()) {
        wait(at.empty(turn.stage), turn.parity);
        expect(at.full(turn.stage), P::kStage);
        load_box(at.stage(turn.stage), &maps.a, at.full(turn.stage), c * kChunk, tile * P::kRows);
      }
    }
    return;
  }

  const int group = warp / 4;
  const int quarter = warp % 4;
  const bool speaks = threadIdx.x % kGroup == 0;
  const int column = across * P::kColumns + (kAcross ? group * kWidth : 0);
  const uint32_t a_offset = kAcross ? 0 : group * kGroupRows * kChunkBytes;
  const uint32_t b_offset = kAcross ? group * kWidth * kChunkBytes : 0;
  // This lane's row of its matrix of 8 x 8; matrices 0 and 1 lie below each other, 2 and 3 beside
  // them.
  const uint32_t row_offset = (quarter * 16 + (lane / 8 % 2) * 8 + lane % 8) * 128;
  const uint32_t beside = lane / 16;
  const uint32_t swizzle = lane % 8;
  const int own_turn = 3 + group;
  const int other_turn = 3 + (1 - group);

  ColumnSums<kWidth> column_sums;
  wait(at.weights_full(), 0);
  __syncwarp();
  if (kInTurn && group == 1) meet_without_waiting<2 * kGroup>(other_turn);
  Turn<kStages> turn{.parity = 0};
  int out = 0;
  for (int tile = first; tile < tiles; tile += step) {
    float acc[kWidth / 2];
    if constexpr (kInTurn) meet<2 * kGroup>(own_turn);
    hold(acc);
    int before = 0;
#pragma unroll
    for (int c = 0; c < P::kChunks; ++c, turn.next()) {
      wait(at.full(turn.stage), turn.parity);
      __syncwarp();
      const uint64_t a = describe(at.stage(turn.stage) + a_offset);
      const uint64_t b = describe(at.weights + c * P::kColumns * kChunkBytes + b_offset);
      begin_products();
#pragma unroll
      for (int k = 0; k < 4; ++k) multiply_add<T>(acc, a + k * 2, b + k * 2, c != 0 || k != 0);
      commit_products();
      if (c > 0) {
        wait_for_products<1>();
        if (lane == 0) arrive(at.empty(before));
      }
      before = turn.stage;
    }
    // Nobody waits for a turn after the last tile.
    if (kInTurn && (group == 0 || tile + step < tiles)) meet_without_waiting<2 * kGroup>(other_turn);
    wait_for_products<0>();
    hold(acc);
    if (lane == 0) arrive(at.empty(before));

    uint32_t packed[kWidth / 4];
#pragma unroll
    for (int i = 0; i < kWidth / 4; ++i) packed[i] = pack<T>(acc[2 * i], acc[2 * i + 1]);
    // The memory is free when what it held last has been read.
    if (speaks) wait_until_read<kOuts - 1>();
    meet<kGroup>(1 + group);
    const uint32_t to = at.outs + (group * kOuts + out) * P::kOut;
#pragma unroll
    for (int j = 0; j < kWidth / 8; j += 2) {
      const uint32_t row = to + (j / 8) * kGroupRows * 128 + row_offset;
      store_matrices(row + (((j % 8) + beside) ^ swizzle) * 16,
                     {packed[2 * j], packed[2 * j + 1], packed[2 * j + 2], packed[2 * j + 3]});
    }
    publish_to_copies();
    meet<kGroup>(1 + group);
    if (speaks) {
      const int row = tile * P::kRows + (kAcross ? 0 : group * kGroupRows);
#pragma unroll
      for (int box = 0; box < kWidth / 64; ++box) {
        store_box(&maps.d, to + box * kGroupRows * 128, column + box * 64, row);
      }
      commit_stores();
    }
    if (++out == kOuts) out = 0;
    column_sums.template add<T>(packed);
  }

  const size_t row = first * P::kPartials + (kAcross ? 0 : group * 4) + quarter;
  float* own = sums + row * columns + column;
  write_column_sums<kWidth>(column_sums.sum, lane, own);
  write_column_sums<kWidth>(column_sums.squares, lane, own + size_t{1} * sums_rows * columns);
  if (speaks) wait_for_stores();
}

/// One launch of a product.
struct Launch {
  const Launcher& launcher;
  const PointwiseTiling& tiling;
  const PointwiseShape& shape;
  unsigned processors;
  const void* a;
  const void* b;
  void* d;
  float* sums;

  /// Of kPointwiseTilings[kIndex].
  template <int kIndex, int kStages, int kOuts, bool kInTurn>
  void run() const {
    shape.fp16 ? run_of<Float16, kIndex, kStages, kOuts, kInTurn>()
               : run_of<BFloat16, kIndex, kStages, kOuts, kInTurn>();
  }

 private:
  template <class T, int kIndex, int kStages, int kOuts, bool kInTurn>
  void run_of() const {
    constexpr PointwiseTiling kTiling = kPointwiseTilings[kIndex];
    constexpr int kInner = kTiling.inner;
    constexpr bool kAcross = kTiling.rows == kGroupRows;
    constexpr int kWidth = kTiling.columns / (kAcross ? 2 : 1);
    using P = Plan<kInner, kWidth, kAcross, kStages, kOuts, kInTurn>;
    static_assert(P::kRows == kTiling.rows && P::kColumns == kTiling.columns && P::kPartials == kTiling.partials);
    const auto kernel = pointwise_kernel<T, kInner, kWidth, kAcross, kStages, kOuts, kInTurn>;
    report_launch(launcher, static_cast<int>(
                                cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, P::kBytes)));
    const Encode encode = find_encode(launcher);
    Maps maps{};
    if (encode == nullptr || !describe_matrix<T>(encode, maps.a, a, shape.rows, shape.inner, P::kRows) ||
        !describe_matrix<T>(encode, maps.b, b, shape.columns, shape.inner, P::kColumns) ||
        !describe_matrix<T>(encode, maps.d, d, shape.rows, shape.columns, kGroupRows)) {
      return report_launch(launcher, static_cast<int>(cudaErrorNotSupported));
    }
    const unsigned across = shape.columns / P::kColumns;
    const unsigned steps = tiling.steps(shape, processors);
    kernel<<<steps * across, kThreads, P::kBytes, launcher.stream>>>(
        maps, sums, static_cast<int>(tiling.tiles(shape)), static_cast<int>(across), static_cast<int>(shape.columns),
        static_cast<int>(steps * P::kPartials));
    report_launch(launcher, static_cast<int>(cudaGetLastError()));
  }
};

}  // namespace

void multiply_pointwise(const Launcher& launcher, const PointwiseTiling& tiling, const PointwiseShape& shape,
                        unsigned processors, const void* a, const void* b, void* d, float* sums) {
  const Launch launch{launcher, tiling, shape, processors, a, b, d, sums};
  switch (index_of(kPointwiseTilings, tiling)) {
    case 0:
      return launch.run<0, 12, 2, false>();
    case 1:
      return launch.run<1, 8, 2, false>();
    case 2:
      return launch.run<2, 8, 2, false>();
    case 3:
      return launch.run<3, 10, 2, false>();
    case 4:
      return launch.run<4, 6, 2, false>();
    case 5:
      return launch.run<5, 7, 1, false>();
    case 6:
      return launch.run<6, 5, 2, true>();
    case 7:
      return launch.run<7, 9, 2, false>();
    case 8:
      return launch.run<8, 7, 2, false>();
    case 9:
      return launch.run<9, 4, 1, false>();
    default:
      return report_launch(launcher, static_cast<int>(cudaErrorNotSupported));
  }
}

}  // namespace trainyard::cuda
