// `trainer bench allreduce`: what sums over all ranks cost, as gradients are summed in training.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "trainer/comm/communicator.h"

namespace trainyard {

struct BenchAllReduceOptions {
  std::string comm = "auto";
  std::string device = "cpu";
  std::string all_reduce = "auto";
  std::string gradient_type = "fp32";
  int64_t bytes = int64_t{64} << 20U;  ///< the largest sum
  double seconds = 0.5;                ///< measure each size for so long
  bool pairs = false;                  ///< then the largest size between ranks two and two, too
};

/// For 4 KiB, 16 KiB, … up to options.bytes of fp32:
/// {"bytes","ms","algorithm_gbs","bus_gbs","world","comm","all_reduce","gradient_type","sent_bytes"}
/// to `line`, on rank 0. sent_bytes: by rank 0 for one sum, null where a library sends.
/// algorithm_gbs is bytes / time, bus_gbs that times 2 (n - 1)
/// / n for n ranks (NVIDIA's nccl-tests, doc/PERFORMANCE.md), in 1e9 bytes a second. Throws
/// Error(Exit::usage) for a single rank, and Error(Exit::device) where a sum is wrong.
/// With options.pairs also
/// {"pair":[rank,rank],"bytes","ms","algorithm_gbs","bus_gbs","world","comm"} for each pair of
/// ranks that summed alone: in rounds of disjoint pairs, all pairs of a round at once, all pairs
/// there are of up to 9 ranks, and 8 rounds of more ranks. Of each pair the better of two
/// measurements counts.
void bench_all_reduce(const BenchAllReduceOptions& options, Communicator& communicator,
                      const std::function<void(const nlohmann::json&)>& line);

}  // namespace trainyard
