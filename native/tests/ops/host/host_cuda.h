// The CUDA back end's ops on the host: kernels become loops, cuBLAS and cuDNN become their
// definitions. Its memory is the host's but never handed out as that, so whoever forgets a copy
// reads nothing of use.
#pragma once
#include <functional>
#include <memory>

#include "tests/ops/host/tape.h"
#include "trainer/ops/contract/backend.h"
#include "trainer/ops/cuda/fused/fused_kernels.h"

namespace trainyard::test {

std::unique_ptr<Backend> make_host_cuda();
/// The same with so much memory and no more.
std::unique_ptr<Backend> make_host_cuda_of(size_t bytes);

/// How its kernels are chosen and played.
struct HostKernels {
  bool plain = false;  ///< a thread for each number: what kernels of blocks are compared with
  bool apart = false;  ///< each op by itself, also where the back end has one for several
  bool beside = true;  ///< ops of run_beside() run as late as they may; false: at once
  unsigned summing_blocks = 0, passing_blocks = 0;  ///< of a kernel; 0: as on a device
  size_t timed_scratch = 0;  ///< bytes that a convolution's forward pass wants more where Conv2dParams::timed
  bool forwards = false;     ///< threads and blocks from the first to the last, instead of the last to the first
  /// Where set, kernels are only counted: their numbers are never made. Called with the count so
  /// far whenever the host waits for them.
  std::function<void(const Tape::Counted&)> counted{};
  /// Tape::spoil.
  std::function<void(const WrittenProduct&)> spoil{};
  /// Tape::spoil_pixels.
  std::function<void(const WrittenPixels&)> spoil_pixels{};
  /// Where set, how fused kernels are chosen, once the device is there; else by their tables,
  /// without a check.
  std::function<std::unique_ptr<cuda::FusedKernels>(const cuda::Device& device, unsigned processors)> fused{};
};
std::unique_ptr<Backend> make_host_cuda_with(HostKernels kernels);

/// What became of the ops that were to be recorded.
struct Recorded {
  bool refuses = false;  ///< it cannot be done
  int made = 0;
  int runs = 0;
};
/// The same, which counts; `recorded` outlives it.
std::unique_ptr<Backend> make_host_cuda_recording(Recorded& recorded);

/// What passes between the host and its device, as the host's calls go.
struct HostTraffic {
  size_t to_host = 0;  ///< bytes
  int waits = 0;       ///< times that the host stood still until the device had done everything
};

/// What the collectives have of the back end that joins.
struct HostMember {
  Backend& memory;
  /// Runs an op in order with the others: now, or again and again where it is recorded.
  std::function<void(std::function<void()> op)> run;
};

/// How it joins a group.
struct HostGroups {
  std::function<DeviceGroupId()> make;
  std::function<std::unique_ptr<DeviceCollectives>(const DeviceGroup&, const HostMember&)> join;
};
/// The same for a rank whose device sums with others. `traffic` is counted, and outlives it;
/// nullptr: nobody asks.
std::unique_ptr<Backend> make_host_cuda_in(HostGroups groups, HostTraffic* traffic = nullptr);

}  // namespace trainyard::test
