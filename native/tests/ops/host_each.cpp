// Kernels as loops, for every arithmetic that the device's compiler is given.
#include <cstdlib>

#include "tests/ops/tape.h"
#include "trainer/ops/cuda/kernels/report.h"
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

/// From the last index to the first: no kernel may count on an order.
template <class F>
void each(const Launcher& launcher, size_t count, const F& f) {
  if (count > kMostElements) report_too_large(launcher, count);
  const auto loop = [count, f] {
    for (size_t i = count; i-- > 0;) f(static_cast<unsigned>(i));
  };
  test::Tape* tape = test::Tape::of(launcher);
  tape != nullptr ? tape->run(loop) : loop();
}

}  // namespace trainyard::cuda

// After each(), which they instantiate.
#include "trainer/ops/cuda/kernels/batch_norm_instances.h"
#include "trainer/ops/cuda/kernels/elementwise_instances.h"
#include "trainer/ops/cuda/kernels/pooling_instances.h"
#include "trainer/ops/cuda/kernels/resize_instances.h"
#include "trainer/ops/cuda/kernels/softmax_instances.h"
#include "trainer/ops/cuda/kernels/update_instances.h"
