// Gradients sent off in buckets, the first of them while the backward pass still runs.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace trainyard {

/// Where an arena of `size` floats is cut into buckets of about `bucket` floats, from its end to
/// its start (the order in which gradients become ready). Returns the first element of each bucket,
/// falling; the last one is 0.
std::vector<size_t> bucket_starts(size_t size, size_t bucket);

/// 4 MiB keeps latency small beside transfer time while the first bucket still starts early (Li et
/// al. 2020, "PyTorch Distributed", sec. 3.2.2, describes the trade).
constexpr size_t usual_bucket_bytes = size_t{4} << 20U;

class Buckets {
 public:
  using Start = std::function<void(std::span<float>)>;
  /// start: begins the transfer of a bucket of about bucket_bytes.
  Buckets(std::span<float> gradients, Start start, size_t bucket_bytes);

  /// The network's report that gradients [begin, …) are final. Ranges come in falling order and
  /// touch one another.
  void ready(size_t begin);
  /// The next step's begin anew.
  void restart();

 private:
  std::span<float> gradients_;
  Start start_;
  std::vector<size_t> starts_;
  size_t next_ = 0;  ///< index in starts_ of the next bucket to send
  size_t sent_to_;   ///< gradients at and above this are on their way
};

}  // namespace trainyard
