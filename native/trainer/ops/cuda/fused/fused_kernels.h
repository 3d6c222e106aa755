// What choices of fused kernels have of their device.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "trainer/ops/cuda/fused/fused_choice.h"
#include "trainer/tensor/dtype.h"

namespace trainyard::cuda {

struct Device;

/// Memory and a clock of the device while candidates are measured. Nothing here fails: where memory
/// is short, numbers() and buffer() return nullptr. Memory is freed with the bench.
class FusedBench {
 public:
  virtual ~FusedBench() = default;
  /// So many random numbers.
  virtual void* numbers(size_t count, DType dtype) = 0;
  /// Bytes of any value.
  virtual void* buffer(size_t bytes) = 0;
  /// Of what `run` puts on the device's stream, without the host's part.
  virtual std::optional<double> milliseconds(const std::function<void()>& run) = 0;
};

/// Lives as long as the back end.
struct FusedKernels {
  const Device& device;
  unsigned processors;   ///< multiprocessors
  PlanChooser* chooser;  ///< nullptr: the tables of kernels decide
  std::string model;     ///< PlanQuestion::device
  std::string library;   ///< PlanQuestion::library
  std::string version;   ///< of our kernels: times of another version say nothing about this one
  std::function<std::unique_ptr<FusedBench>()> bench;
  FusedChecks checks;
};

}  // namespace trainyard::cuda
