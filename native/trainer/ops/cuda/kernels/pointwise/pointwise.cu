// Convolutions of one pixel with batch norm's sums, for Hopper: tensor cores by wgmma, all memory
// by TMA.
//
// A block keeps the weights of its channels in shared memory and takes one tile of pixels after
// another. One warp brings pixels, two warpgroups multiply, round, and write through shared memory.
// The sums of what they wrote stay in registers over all tiles of the block, and in the end every
// warp writes its own row of them. Nothing depends on the order in which blocks run.
#include "trainer/ops/cuda/kernels/pointwise/pointwise.cuh"

namespace trainyard::cuda {

namespace {

using namespace hopper;

constexpr int kThreads = 2 * kGroup + 32;

struct Maps {
  CUtensorMap a;  // [rows, inner]
  CUtensorMap b;  // [columns, inner]
  CUtensorMap d;  // [rows, columns]
};

/// kStages: chunks of pixels on their way. kOuts: tiles of a warpgroup that are being written.
/// kInTurn: one warpgroup multiplies while the other writes.
template <int kInner, int kWidth, bool kAcross, int kStages, int kOuts, bool kInTurn>
struct Plan : Cut<kInner, kWidth, kAcross> {
  using C = Cut<kInner, kWidth, kAcross>;
  // 1024 for the alignment, 1024 for the barriers.
  static constexpr int kBytes = C::kWeights + kStages * C::kStage + 2 * kOuts * C::kTile + 1024 + 1024;
  static_assert(kBytes <= kMostShared);
  // The second warpgroup begins a tile when the first has multiplied all of it.
  static_assert(!kInTurn || kStages >= C::kChunks);
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
    pointwise_kernel(const __grid_constant__ Maps maps, float* sums, int all_tiles, int blocks_across, int columns,
                     int sums_rows) {
  using P = Plan<kInner, kWidth, kAcross, kStages, kOuts, kInTurn>;
  extern __shared__ uint8_t memory[];
  const Places<P, kStages> at(memory);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const Tiles tiles(blocks_across, all_tiles);

  if (threadIdx.x == 0) {
    make_stages<kStages>(at);
    barriers_are_made();
  }
  __syncthreads();

  if (warp == 8) {
    if (lane == 0) bring_factors<P, kStages>(at, Pixels<1>{&maps.a}, &maps.b, tiles);
    return;
  }

  const Share<P> share(warp, lane);
  const int column = tiles.across * P::kColumns + share.column;
  const int own_turn = 3 + share.group;
  const int other_turn = 3 + (1 - share.group);

  ColumnSums<kWidth> column_sums;
  wait(at.weights_full(), 0);
  __syncwarp();
  if (kInTurn && share.group == 1) meet_without_waiting<2 * kGroup>(other_turn);
  Turn<kStages> turn{.parity = 0};
  int out = 0;
  for (int tile = tiles.first; tile < tiles.end; tile += tiles.step) {
    float acc[kWidth / 2];
    if constexpr (kInTurn) meet<2 * kGroup>(own_turn);
    const int last = start_product<T>(at, share, turn, acc);
    // Nobody waits for a turn after the last tile.
    if (kInTurn && (share.group == 0 || tile + tiles.step < tiles.end)) meet_without_waiting<2 * kGroup>(other_turn);
    finish_product(at, share, last, acc);

    uint32_t packed[kWidth / 4];
#pragma unroll
    for (int i = 0; i < kWidth / 4; ++i) packed[i] = pack<T>(acc[2 * i], acc[2 * i + 1]);
    // The memory is free when what it held last has been read.
    if (share.speaks) wait_until_read<kOuts - 1>();
    meet<kGroup>(1 + share.group);
    const uint32_t to = at.outs + (share.group * kOuts + out) * P::kTile;
#pragma unroll
    for (int j = 0; j < kWidth / 8; j += 2) {
      store_matrices(share.place(to, j), {packed[2 * j], packed[2 * j + 1], packed[2 * j + 2], packed[2 * j + 3]});
    }
    store_tile(&maps.d, share, to, column, tile * P::kRows + share.row);
    if (++out == kOuts) out = 0;
    column_sums.template add<T>(packed);
  }

  float* own = sums + share.partial(tiles.first) * columns + column;
  write_column_sums<kWidth>(column_sums.sum, lane, own);
  write_column_sums<kWidth>(column_sums.squares, lane, own + size_t{1} * sums_rows * columns);
  if (share.speaks) wait_for_stores();
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
