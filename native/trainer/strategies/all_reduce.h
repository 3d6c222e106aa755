// Gradients summed over all ranks by all-reduce, in buckets that start while the backward pass still runs.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "trainer/comm/communicator.h"

namespace trainyard {

/// Where an arena of `size` floats is cut into buckets of about `bucket` floats, from its end to its start (the order
/// in which gradients become ready). Returns the first element of each bucket, falling; the last one is 0.
std::vector<size_t> bucket_starts(size_t size, size_t bucket);

class AllReduce {
 public:
  /// bucket_bytes: 4 MiB keeps latency small beside transfer time while the first bucket still starts early (Li et al.
  /// 2020, "PyTorch Distributed", sec. 3.2.2, describes the trade).
  AllReduce(Communicator& communicator, std::span<float> gradients, size_t bucket_bytes = size_t{4} << 20U);

  /// The network's report that gradients [begin, end) are final. Ranges come in falling order and touch one another.
  void ready(size_t begin, size_t end);
  /// Waits for every bucket. Milliseconds this rank stood waiting.
  double finish();

 private:
  Communicator& communicator_;
  std::span<float> gradients_;
  std::vector<size_t> starts_;
  size_t next_ = 0;  ///< index in starts_ of the next bucket to send
  size_t sent_to_;   ///< gradients at and above this are on their way
};

}  // namespace trainyard
