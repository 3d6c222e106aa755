// Loops over this rank's threads, on the same pool that oneDNN uses (libgomp), so the two never compete for cores.
#pragma once
#include <cstddef>
#include <functional>

namespace trainyard {

/// Sets the number of threads of this process's pool (OMP_NUM_THREADS otherwise). At least 1.
void set_threads(int threads);
int threads();

/// Calls body(begin, end) over contiguous, disjoint parts of [0, count), one a thread. The parts depend only on
/// `count` and threads(), so what is computed is the same in every run. `grain` is the smallest part worth a thread.
void parallel_for(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body);

}  // namespace trainyard
