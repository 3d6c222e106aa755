// Products of pixels, which weight gradients of convolutions of one pixel are made of, for Hopper:
// [g | x]^T x and the sums of x, over the pixels of each step.
//
// A block has some columns of the factors [g | x], and takes one chunk of 64 pixels after another.
// One warp brings chunks, two warpgroups multiply: both factors lie in shared memory as pixels do,
// channels last, so both are transposed. The results stay in registers over all chunks of the
// block. The blocks that have the last columns also add up x, which is in shared memory anyway.
// Nothing depends on the order in which blocks run.
#include "trainer/ops/cuda/kernels/pointwise/pointwise.cuh"

namespace trainyard::cuda {

namespace {

using namespace hopper;

constexpr int kThreads = 2 * kGroup + 32;
constexpr int kWarps = 8;                          // that multiply
constexpr int kDeep = 16 * kChunkBytes;            // 16 pixels of a box, which an instruction takes
constexpr int kEight = 8 * int{sizeof(uint16_t)};  // bytes of 8 numbers, by which the swizzle moves them

struct Maps {
  CUtensorMap g;  // [rows, out]
  CUtensorMap x;  // [rows, in]
};

/// kColumns: of the factors, in a block. kStages: chunks of pixels on their way.
template <int kOutChannels, int kInChannels, int kColumns, int kStageCount>
struct Plan {
  static constexpr int kOut = kOutChannels;
  static constexpr int kIn = kInChannels;
  static constexpr int kFactors = kOut + kIn;
  static constexpr int kOwnColumns = kColumns;
  static constexpr int kAcross = kFactors / kColumns;
  static constexpr int kStages = kStageCount;
  static constexpr int kTiles = kColumns / kGroupRows;  // of 64 columns of the factors
  static constexpr bool kHasAll = kAcross == 1;         // x is among the columns already
  static constexpr int kBoxes = kTiles + (kHasAll ? 0 : kIn / 64);
  static constexpr int kFirstX = kHasAll ? kOut / 64 : kTiles;  // of the boxes of a stage
  static constexpr int kStage = kBoxes * kBoxBytes;
  static constexpr int kSums = kWarps * kIn * int{sizeof(float)};
  // 1024 for the alignment, 512 for the barriers.
  static constexpr int kBytes = kStages * kStage + kSums + 1024 + 512;
  static_assert(kFactors % kColumns == 0 && kColumns % 64 == 0 && kOut % 64 == 0 && kIn % 64 == 0);
  static_assert(kBytes <= kMostShared);
  static_assert(16 * kStages <= 512);
};

/// Where a block's shared memory holds what.
template <class P>
struct Places {
  uint32_t stages, sums, barriers;

  __device__ explicit Places(const uint8_t* memory)
      : stages((address(memory) + 1023) & ~1023U), sums(stages + P::kStages * P::kStage), barriers(sums + P::kSums) {}
  __device__ uint32_t box(int s, int i) const { return stages + s * P::kStage + i * kBoxBytes; }
  __device__ uint32_t x(int s) const { return box(s, P::kFirstX); }
  __device__ uint32_t full(int s) const { return barriers + 8 * s; }
  __device__ uint32_t empty(int s) const { return barriers + 8 * (P::kStages + s); }
};

/// Brings all chunks of a block. By one thread. What is behind the last pixel comes as zeros.
template <class P>
__device__ __forceinline__ void bring_chunks(const Places<P>& at, const Maps& maps, const Tiles& chunks) {
  Turn<P::kStages> turn{.parity = 1};
  for (int chunk = chunks.first; chunk < chunks.end; chunk += chunks.step, turn.next()) {
    const uint32_t full = at.full(turn.stage);
    wait(at.empty(turn.stage), turn.parity);
    expect(full, P::kStage);
#pragma unroll
    for (int i = 0; i < P::kBoxes; ++i) {
      const int column = i < P::kTiles ? chunks.across * P::kOwnColumns + i * 64 : P::kOut + (i - P::kTiles) * 64;
      const bool of_x = column >= P::kOut;
      load_box(at.box(turn.stage, i), of_x ? &maps.x : &maps.g, full, of_x ? column - P::kOut : column, chunk * kChunk);
    }
  }
}

/// What x adds up to. A thread has 8 channels, and every kStep-th pixel of a chunk.
template <class P>
struct XSums {
  static constexpr int kEights = P::kIn / 8;
  static constexpr int kStep = 2 * kGroup / kEights;
  static_assert(kEights < 32 && 32 % kEights == 0);      // lanes with the same channels are kEights apart
  static_assert(kStep % 8 == 0 && kChunk % kStep == 0);  // all its pixels are swizzled alike

  uint32_t offset;  // of its numbers of its first pixel
  float sums[8] = {};

  __device__ explicit XSums(int thread) {
    const int eight = thread % kEights;
    const int row = thread / kEights;
    offset = eight / 8 * kBoxBytes + row * kChunkBytes + ((eight % 8) ^ (row % 8)) * kEight;
  }

  /// x: the chunk's first box.
  template <class T>
  __device__ void add(uint32_t x) {
#pragma unroll
    for (int row = 0; row < kChunk; row += kStep) {
      uint32_t words[4];
      load_words(words, x + offset + row * kChunkBytes);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const auto [low, high] = unpack<T>(words[i]);
        sums[2 * i] += low;
        sums[2 * i + 1] += high;
      }
    }
  }

  /// to: [kWarps, in] in shared memory, a row of each warp.
  __device__ void write(uint32_t to, int warp, int lane) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int mask = kEights; mask < 32; mask *= 2) sums[i] += __shfl_xor_sync(0xFFFFFFFFU, sums[i], mask);
    }
    if (lane >= kEights) return;
#pragma unroll
    for (int i = 0; i < 8; ++i) store_float(to + (warp * P::kIn + lane * 8 + i) * int{sizeof(float)}, sums[i]);
  }
};

/// All products of a warpgroup: kCount tiles of 64 columns of the factors from tile `first` on,
/// with all channels of x. partial: [factors, in] of the block's step.
template <class T, class P, int kCount>
__device__ __forceinline__ void multiply_chunks(const Places<P>& at, const Tiles& chunks, int first, bool adds_x,
                                                XSums<P>& x_sums, float* partial) {
  const int lane = threadIdx.x % 32;
  float acc[kCount][P::kIn / 2] = {};
#pragma unroll
  for (int i = 0; i < kCount; ++i) hold(acc[i]);
  Turn<P::kStages> turn{.parity = 0};
  int before = -1;  // the stage of the chunk before
  for (int chunk = chunks.first; chunk < chunks.end; chunk += chunks.step, turn.next()) {
    wait(at.full(turn.stage), turn.parity);
    __syncwarp();
    const uint64_t a = describe(at.box(turn.stage, first), kBoxBytes);
    const uint64_t b = describe(at.x(turn.stage), kBoxBytes);
    begin_products();
#pragma unroll
    for (int k = 0; k < kChunk / 16; ++k) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        multiply_add<T, true>(acc[i], a + (i * kBoxBytes + k * kDeep) / 16, b + k * kDeep / 16, 1);
      }
    }
    commit_products();
    if (adds_x) x_sums.template add<T>(at.x(turn.stage));
    wait_for_products<1>();
    // By now the whole warp has added up x of the chunk before: they have met since then.
    if (before >= 0 && lane == 0) arrive(at.empty(before));
    before = turn.stage;
  }
  wait_for_products<0>();
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    hold(acc[i]);
    // Row lane / 4 of the warp's 16, and 8 below; columns 8 j + 2 (lane % 4) and the next.
    const int row = (first + i) * kGroupRows + threadIdx.x % kGroup / 32 * 16 + lane / 4;
    float* to = partial + (size_t{1} * chunks.across * P::kOwnColumns + row) * P::kIn + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < P::kIn / 8; ++j) {
      *reinterpret_cast<float2*>(to + j * 8) = make_float2(acc[i][4 * j], acc[i][4 * j + 1]);
      *reinterpret_cast<float2*>(to + 8 * P::kIn + j * 8) = make_float2(acc[i][4 * j + 2], acc[i][4 * j + 3]);
    }
  }
}

/// partial: [steps, factors + 1, in].
template <class T, class P>
__global__ void __launch_bounds__(kThreads, 1)
    pointwise_weights_kernel(const __grid_constant__ Maps maps, float* partial, int all_chunks) {
  extern __shared__ uint8_t memory[];
  const Places<P> at(memory);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const Tiles chunks(P::kAcross, all_chunks);

  if (threadIdx.x == 0) {
    for (int s = 0; s < P::kStages; ++s) {
      barrier_init(at.full(s), 1);
      barrier_init(at.empty(s), kWarps);
    }
    barriers_are_made();
  }
  __syncthreads();

  if (warp == kWarps) {
    if (lane == 0) bring_chunks(at, maps, chunks);
    return;
  }

  constexpr int kFirstGroup = (P::kTiles + 1) / 2;  // tiles of the first warpgroup
  float* own = partial + size_t{1} * chunks.first * (P::kFactors + 1) * P::kIn;
  const bool adds_x = chunks.across == P::kAcross - 1;
  XSums<P> x_sums(threadIdx.x);
  if (warp < 4) {
    multiply_chunks<T, P, kFirstGroup>(at, chunks, 0, adds_x, x_sums, own);
  } else {
    multiply_chunks<T, P, P::kTiles - kFirstGroup>(at, chunks, kFirstGroup, adds_x, x_sums, own);
  }
  if (!adds_x) return;
  x_sums.write(at.sums, warp, lane);
  meet<2 * kGroup>(1);
  if (threadIdx.x >= P::kIn) return;
  float sum = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) sum += load_float(at.sums + (w * P::kIn + threadIdx.x) * int{sizeof(float)});
  own[size_t{P::kFactors} * P::kIn + threadIdx.x] = sum;
}

/// One launch of products.
struct Launch {
  const Launcher& launcher;
  const PixelsTiling& tiling;
  const PixelsShape& shape;
  unsigned processors;
  const void* g;
  const void* x;
  float* partial;

  /// Of kPixelsTilings[kIndex].
  template <int kIndex, int kStages>
  void run() const {
    shape.fp16 ? run_of<Float16, kIndex, kStages>() : run_of<BFloat16, kIndex, kStages>();
  }
  void refuse() const { report_launch(launcher, static_cast<int>(cudaErrorNotSupported)); }

 private:
  template <class T, int kIndex, int kStages>
  void run_of() const {
    constexpr PixelsTiling kTiling = kPixelsTilings[kIndex];
    using P = Plan<kTiling.out, kTiling.in, kTiling.columns, kStages>;
    const auto kernel = pointwise_weights_kernel<T, P>;
    report_launch(launcher, static_cast<int>(
                                cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, P::kBytes)));
    const Encode encode = find_encode(launcher);
    Maps maps{};
    if (encode == nullptr || !describe_matrix<T>(encode, maps.g, g, shape.rows, shape.out, kChunk) ||
        !describe_matrix<T>(encode, maps.x, x, shape.rows, shape.in, kChunk)) {
      return refuse();
    }
    kernel<<<tiling.steps(shape, processors) * P::kAcross, kThreads, P::kBytes, launcher.stream>>>(
        maps, partial, static_cast<int>(tiling.chunks(shape)));
    report_launch(launcher, static_cast<int>(cudaGetLastError()));
  }
};

}  // namespace

void multiply_pixels(const Launcher& launcher, const PixelsTiling& tiling, const PixelsShape& shape,
                     unsigned processors, const void* g, const void* x, float* partial) {
  const Launch launch{launcher, tiling, shape, processors, g, x, partial};
  switch (index_of(kPixelsTilings, tiling)) {
    case 0:
      return launch.run<0, 5>();
    case 1:
      return launch.run<1, 6>();
    default:
      return launch.refuse();
  }
}

}  // namespace trainyard::cuda
