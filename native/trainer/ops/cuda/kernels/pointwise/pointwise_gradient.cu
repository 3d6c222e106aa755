// Data gradients of convolutions of one pixel, with what follows them (PointwiseEnd), for Hopper: as
// kernels/pointwise/pointwise.cu, with a second warp that brings the other gradient and the batch norms'
// inputs. A gradient goes out through the place of the first tensor that was brought. With a
// PointwiseMerge the pixels are of two matrices, one after the other.
#include "trainer/ops/cuda/kernels/pointwise/pointwise_gradient.cuh"

namespace trainyard::cuda {

namespace {

using namespace hopper;
using namespace hopper::gradient;

template <class T, class E, int kInner, int kWidth, bool kAcross, int kStages, int kSlots>
__global__ void __launch_bounds__(kThreads, 1)
    pointwise_gradient_kernel(const __grid_constant__ Maps<E> maps, const __grid_constant__ Rest<E> rest) {
  using P = Plan<E, kInner, kWidth, kAcross, kStages, kSlots>;
  extern __shared__ uint8_t memory[];
  const Places<P, kStages, kSlots> at(memory);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const Tiles tiles(rest.blocks_across, rest.tiles);

  if (threadIdx.x == 0) {
    make_stages<kStages>(at);
    for (int group = 0; group < 2; ++group) {
      for (int s = 0; s < kSlots; ++s) {
        barrier_init(at.brought(group, s), 1);
        barrier_init(at.freed(group, s), 1);
      }
    }
    barriers_are_made();
  }
  if (threadIdx.x < P::kColumns) {
#pragma unroll
    for (int i = 0; i < E::kConstants; ++i) {
      const float value = rest.constants[i][tiles.across * P::kColumns + threadIdx.x];
      store_float(at.constants + (i * P::kColumns + threadIdx.x) * 4, value);
    }
  }
  __syncthreads();

  if (warp == 8) {
    if (lane == 0) {
      const Pixels<E::kParts> pixels{maps.a, P::kChunks - rest.columns / kChunk};
      bring_factors<P, kStages>(at, pixels, &maps.b, tiles);
    }
    return;
  }
  if (warp == 9) {
    if (lane != 0) return;
    Turn<kSlots> turn{.parity = 1};
    for (int tile = tiles.first; tile < tiles.end; tile += tiles.step, turn.next()) {
      for (int group = 0; group < 2; ++group) {
        const int column = tiles.across * P::kColumns + (kAcross ? group * kWidth : 0);
        const int row = tile * P::kRows + (kAcross ? 0 : group * kGroupRows);
        const uint32_t to = at.slot(group, turn.stage);
        const uint32_t brought = at.brought(group, turn.stage);
        wait(at.freed(group, turn.stage), turn.parity);
        expect(brought, P::kSlot);
        for (int box = 0; box < kWidth / 64; ++box) {
#pragma unroll
          for (int i = 0; i < E::kBrought; ++i) {
            load_box(to + i * P::kTile + box * kBoxBytes, &maps.brought[i], brought, column + box * 64, row);
          }
        }
      }
    }
    return;
  }

  const Share<P> share(warp, lane);
  const int column = tiles.across * P::kColumns + share.column;
  const uint32_t constants = at.constants + (share.column + lane % 4 * 2) * 4;
  // Of columns 8 eight + 2 (lane % 4) and the next.
  const auto constant = [&](int i, int eight) { return load_two(constants + (i * P::kColumns + eight * 8) * 4); };

  float sums[E::kSums][kWidth / 4] = {};
  wait(at.weights_full(), 0);
  __syncwarp();
  Turn<kStages> turn{.parity = 0};
  Turn<kSlots> slots{.parity = 0};
  int written = -1;  // the slot of the tile before
  for (int tile = tiles.first; tile < tiles.end; tile += tiles.step, slots.next()) {
    const int row = tile * P::kRows + share.row;
    const int own_row = row + share.quarter * 16 + lane / 4;  // and 8 below
    PassedBits<kWidth> passed;
    if constexpr (E::kAdds) passed.load(rest.passed, own_row, column, rest.rows, rest.columns, lane);
    float acc[kWidth / 2];
    finish_product(at, share, start_product<T>(at, share, turn, acc), acc);
    // By now the copy has read what the tile before wrote.
    if (share.speaks && written >= 0) {
      wait_until_read<0>();
      arrive(at.freed(share.group, written));
    }

    wait(at.brought(share.group, slots.stage), slots.parity);
    __syncwarp();
    const uint32_t slot = at.slot(share.group, slots.stage);
#pragma unroll
    for (int j = 0; j < kWidth / 8; j += 2) {
      const uint32_t place = share.place(slot, j);
      uint32_t brought[E::kBrought][4], packed[4];
#pragma unroll
      for (int i = 0; i < E::kBrought; ++i) load_matrices(brought[i], place + i * P::kTile);
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        // Rows lane / 4 (q even) or 8 below, columns 8 eight + 2 (lane % 4) and the next.
        const int eight = j + q / 2;
        Two centred[kAtLeastOne<E::kNorms>];
#pragma unroll
        for (int norm = 0; norm < E::kNorms; ++norm) {
          const Two x = unpack<T>(brought[E::kFirstX + norm][q]);
          const Two mean = constant(norm, eight);
          centred[norm] = {x.low - mean.low, x.high - mean.high};
        }
        float low = acc[2 * (2 * j + q)];
        float high = acc[2 * (2 * j + q) + 1];
        if constexpr (E::kAdds) {
          const Two more = unpack<T>(brought[0][q]);
          const uint32_t bits = passed.of[q % 2] >> (2 * eight);
          low = (bits & 1) != 0 ? low + more.low : 0.0F;
          high = (bits & 2) != 0 ? high + more.high : 0.0F;
        } else {
          const Two scale = constant(1, eight);
          const Two beta = constant(2, eight);
          bool there = true;
          if constexpr (E::kMerges) {
            const Two bias = constant(3, eight);
            low += bias.low;
            high += bias.high;
            // The product alone is zero behind the last row.
            there = own_row + 8 * (q % 2) < rest.rows;
          }
          low = there && fmaf(centred[0].low, scale.low, beta.low) > 0.0F ? low : 0.0F;
          high = there && fmaf(centred[0].high, scale.high, beta.high) > 0.0F ? high : 0.0F;
        }
        packed[q] = pack<T>(low, high);
        const Two g = unpack<T>(packed[q]);
        sums[0][2 * eight] += g.low;
        sums[0][2 * eight + 1] += g.high;
#pragma unroll
        for (int norm = 0; norm < E::kNorms; ++norm) {
          float (&products)[kWidth / 4] = sums[1 + norm];
          products[2 * eight] = fmaf(g.low, centred[norm].low, products[2 * eight]);
          products[2 * eight + 1] = fmaf(g.high, centred[norm].high, products[2 * eight + 1]);
        }
      }
      store_matrices(place, packed);
    }
    store_tile(&maps.g, share, slot, column, row);
    written = slots.stage;
  }

  const size_t partial = share.partial(tiles.first);
#pragma unroll
  for (int i = 0; i < E::kSums; ++i) {
    write_column_sums<kWidth>(sums[i], lane,
                              rest.sums + (size_t{1} * i * rest.sums_rows + partial) * rest.columns + column);
  }
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
  const PointwiseEnd& end;
  void* g;
  float* sums;

  /// Of the kIndex-th tiling of such an end.
  template <class E, int kIndex, int kStages, int kSlots>
  void run() const {
    shape.fp16 ? run_of<Float16, E, kIndex, kStages, kSlots>() : run_of<BFloat16, E, kIndex, kStages, kSlots>();
  }
  void refuse() const { report_launch(launcher, static_cast<int>(cudaErrorNotSupported)); }

 private:
  template <class E>
  static constexpr PointwiseTiling tiling_of(int index) {
    if constexpr (E::kMerges) {
      return kMergedGradientTilings[index];
    } else if constexpr (E::kKind == GradientEndKind::inner) {
      return kInnerGradientTilings[index];
    } else if constexpr (E::kKind == GradientEndKind::pair) {
      return kPairGradientTilings[index];
    } else {
      return kBlockGradientTilings[index];
    }
  }

  template <class T, class E, int kIndex, int kStages, int kSlots>
  void run_of() const {
    constexpr PointwiseTiling kTiling = tiling_of<E>(kIndex);
    constexpr int kInner = kTiling.inner;
    constexpr bool kAcross = kTiling.rows == kGroupRows;
    constexpr int kWidth = kTiling.columns / (kAcross ? 2 : 1);
    using P = Plan<E, kInner, kWidth, kAcross, kStages, kSlots>;
    static_assert(P::kRows == kTiling.rows && P::kColumns == kTiling.columns && P::kPartials == kTiling.partials);
    const auto kernel = pointwise_gradient_kernel<T, E, kInner, kWidth, kAcross, kStages, kSlots>;
    report_launch(launcher, static_cast<int>(
                                cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, P::kBytes)));
    const Encode encode = find_encode(launcher);
    if (encode == nullptr) return refuse();
    Maps<E> maps{};
    const auto describe_tiles = [&](CUtensorMap& map, const void* memory) {
      return describe_matrix<T>(encode, map, memory, shape.rows, shape.columns, kGroupRows);
    };
    const unsigned own_inner = E::kMerges ? shape.inner - shape.columns : shape.inner;
    bool described = describe_matrix<T>(encode, maps.a[0], a, shape.rows, own_inner, P::kRows) &&
                     describe_matrix<T>(encode, maps.b, b, shape.columns, shape.inner, P::kColumns) &&
                     describe_tiles(maps.g, g);
    if constexpr (E::kMerges) {
      described = described && describe_matrix<T>(encode, maps.a[1], end.merge.x, shape.rows, shape.columns, P::kRows);
    }
    if constexpr (E::kAdds) described = described && describe_tiles(maps.brought[0], end.more);
    for (int norm = 0; norm < E::kNorms; ++norm) {
      described = described && describe_tiles(maps.brought[E::kFirstX + norm], end.x[norm]);
    }
    if (!described) return refuse();
    const unsigned across = shape.columns / P::kColumns;
    const unsigned steps = tiling.steps(shape, processors);
    Rest<E> rest{};
    rest.passed = static_cast<const uint32_t*>(end.passed);
    for (int norm = 0; norm < E::kNorms; ++norm) rest.constants[norm] = end.mean[norm];
    if constexpr (!E::kAdds) {
      rest.constants[1] = end.scale;
      rest.constants[2] = end.beta;
    }
    if constexpr (E::kMerges) rest.constants[3] = end.merge.bias;
    rest.sums = sums;
    rest.rows = static_cast<int>(shape.rows);
    rest.columns = static_cast<int>(shape.columns);
    rest.tiles = static_cast<int>(tiling.tiles(shape));
    rest.blocks_across = static_cast<int>(across);
    rest.sums_rows = static_cast<int>(steps * P::kPartials);
    kernel<<<steps * across, kThreads, P::kBytes, launcher.stream>>>(maps, rest);
    report_launch(launcher, static_cast<int>(cudaGetLastError()));
  }
};

using Inner = EndOf<GradientEndKind::inner>;
using Merged = EndOf<GradientEndKind::inner, true>;
using Block = EndOf<GradientEndKind::block>;
using Mask = EndOf<GradientEndKind::mask>;
using Pair = EndOf<GradientEndKind::pair>;

void run_inner(const Launch& launch) {
  switch (index_of(kInnerGradientTilings, launch.tiling)) {
    case 0:
      return launch.run<Inner, 0, 8, 3>();
    case 1:
      return launch.run<Inner, 1, 7, 2>();
    default:
      return launch.refuse();
  }
}

void run_merged(const Launch& launch) {
  switch (index_of(kMergedGradientTilings, launch.tiling)) {
    case 0:
      return launch.run<Merged, 0, 8, 3>();
    case 1:
      return launch.run<Merged, 1, 7, 2>();
    default:
      return launch.refuse();
  }
}

void run_block(const Launch& launch) {
  switch (index_of(kBlockGradientTilings, launch.tiling)) {
    case 0:
      return launch.run<Block, 0, 4, 2>();
    case 1:
      return launch.run<Block, 1, 4, 2>();
    case 2:
      return launch.run<Block, 2, 3, 2>();
    case 3:
      return launch.run<Block, 3, 3, 2>();
    case 4:
      return launch.run<Block, 4, 2, 2>();
    case 5:
      return launch.run<Block, 5, 5, 2>();
    default:
      return launch.refuse();
  }
}

void run_mask(const Launch& launch) {
  switch (index_of(kBlockGradientTilings, launch.tiling)) {
    case 0:
      return launch.run<Mask, 0, 6, 4>();
    case 1:
      return launch.run<Mask, 1, 4, 4>();
    case 2:
      return launch.run<Mask, 2, 6, 3>();
    case 3:
      return launch.run<Mask, 3, 6, 3>();
    case 4:
      return launch.run<Mask, 4, 4, 3>();
    case 5:
      return launch.run<Mask, 5, 7, 3>();
    default:
      return launch.refuse();
  }
}

void run_pair(const Launch& launch) {
  switch (index_of(kPairGradientTilings, launch.tiling)) {
    case 0:
      return launch.run<Pair, 0, 4, 3>();
    case 1:
      return launch.run<Pair, 1, 3, 3>();
    case 2:
      return launch.run<Pair, 2, 3, 3>();
    case 3:
      return launch.run<Pair, 3, 4, 2>();
    default:
      return launch.refuse();
  }
}

}  // namespace

void multiply_pointwise_gradient(const Launcher& launcher, const PointwiseTiling& tiling, const PointwiseShape& shape,
                                 unsigned processors, const void* a, const void* b, const PointwiseEnd& end, void* g,
                                 float* sums) {
  const Launch launch{launcher, tiling, shape, processors, a, b, end, g, sums};
  switch (end.kind) {
    case GradientEndKind::inner:
      return end.merge.x != nullptr ? run_merged(launch) : run_inner(launch);
    case GradientEndKind::block:
      return run_block(launch);
    case GradientEndKind::mask:
      return run_mask(launch);
    case GradientEndKind::pair:
      return run_pair(launch);
  }
}

}  // namespace trainyard::cuda
