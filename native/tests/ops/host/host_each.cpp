// Kernels as loops, for every arithmetic that the device's compiler is given.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/ops/host/tape.h"
#include "tests/ops/traffic.h"
#include "trainer/ops/cuda/blocks.h"
#include "trainer/ops/cuda/kernels/report.h"
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

/// From the last index to the first: no kernel may count on an order.
template <class F>
void each(const Launcher& launcher, size_t count, const F& f) {
  if (count == 0) return;
  if (count > kMostElements) report_too_large(launcher, count);
  const auto loop = [count, f] {
    for (size_t i = count; i-- > 0;) f(static_cast<unsigned>(i));
  };
  test::Tape* tape = test::Tape::of(launcher);
  const test::Traffic moved = test::traffic(f, count);
  tape != nullptr ? tape->run(loop, moved.kernel, moved.bytes) : loop();
}

namespace {

/// One block, thread by thread between its barriers.
template <class F>
class PlayedBlock {
 public:
  PlayedBlock(const F& f, bool forwards) : f_(f), forwards_(forwards), threads_(kBlockThreads) {}

  void play(unsigned block) {
    // Nothing may count on zeros.
    std::memset(static_cast<void*>(&*shared_), 0xFF, sizeof(typename F::Shared));
    std::memset(static_cast<void*>(threads_.data()), 0xFF, kBlockThreads * sizeof(typename F::Thread));
    play_from<0>(block);
  }

 private:
  template <int phase>
  void play_from(unsigned block) {
    if constexpr (phase < F::kPhases) {
      for (unsigned i = 0; i < kBlockThreads; ++i) {
        const unsigned thread = forwards_ ? i : kBlockThreads - 1 - i;
        f_.template run<phase>(block, thread, threads_[thread], *shared_);
      }
      play_from<phase + 1>(block);
    }
  }

  const F& f_;
  bool forwards_;
  std::vector<typename F::Thread> threads_;
  std::unique_ptr<typename F::Shared> shared_ = std::make_unique<typename F::Shared>();
};

}  // namespace

/// Blocks and threads from the last to the first, or from the first to the last: neither may
/// matter.
template <class F>
void blocks(const Launcher& launcher, size_t count, const F& f) {
  if (count == 0) return;
  if (count > kMostElements - 1) report_too_large(launcher, count);
  test::Tape* tape = test::Tape::of(launcher);
  const bool forwards = tape != nullptr && tape->forwards;
  const auto loop = [count, f, forwards] {
    PlayedBlock<F> played(f, forwards);
    for (size_t i = 0; i < count; ++i) played.play(static_cast<unsigned>(forwards ? i : count - 1 - i));
  };
  const test::Traffic moved = test::traffic(f, count);
  tape != nullptr ? tape->run(loop, moved.kernel, moved.bytes) : loop();
}

}  // namespace trainyard::cuda

// After each() and blocks(), which they instantiate.
#include "trainer/ops/cuda/kernels/elementwise_instances.h"
#include "trainer/ops/cuda/kernels/norm/batch_norm_instances.h"
#include "trainer/ops/cuda/kernels/norm/norm_blocks_instances.h"
#include "trainer/ops/cuda/kernels/norm/norm_merge_instances.h"
#include "trainer/ops/cuda/kernels/norm/norm_pair_instances.h"
#include "trainer/ops/cuda/kernels/norm/norm_pool_instances.h"
#include "trainer/ops/cuda/kernels/pooling/pooling_instances.h"
#include "trainer/ops/cuda/kernels/pooling/pooling_wide_instances.h"
#include "trainer/ops/cuda/kernels/repack_instances.h"
#include "trainer/ops/cuda/kernels/resize_instances.h"
#include "trainer/ops/cuda/kernels/softmax_instances.h"
#include "trainer/ops/cuda/kernels/space_to_depth_instances.h"
#include "trainer/ops/cuda/kernels/sums_instances.h"
#include "trainer/ops/cuda/kernels/update_instances.h"
#include "trainer/ops/cuda/kernels/update_wide_instances.h"
