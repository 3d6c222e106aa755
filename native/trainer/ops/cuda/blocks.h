// Kernels whose threads work together in blocks: shared memory, barriers and 16-byte loads. The body
// of such a kernel is split at its barriers, so that the tests play a block on the host, thread by
// thread.
#pragma once
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

/// Threads of every block.
inline constexpr unsigned kBlockThreads = 256;

/// Runs `count` blocks of kBlockThreads threads, in no order. F has:
///   struct Shared              what the threads of one block share, at most 48 KiB, not zeroed
///   struct Thread              what a thread keeps across barriers (registers), not zeroed
///   kPhases                    a barrier for the whole block stands between two phases
///   kResident                  blocks whose registers a multiprocessor must hold at once
///   template <int phase> void run(unsigned block, unsigned thread, Thread&, Shared&) const
/// Instantiated by kernels/*.cu; the tests instantiate it as loops on the host.
template <class F>
void blocks(const Launcher& launcher, size_t count, const F& f);

}  // namespace trainyard::cuda
