#include "trainer/ops/cuda/library/device_time.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace trainyard::cuda {

namespace {

/// Of one measurement, about: short beside the number of plans, long beside a clock's tick (0.5 us,
/// NVIDIA's CUDA runtime API, cudaEventElapsedTime).
constexpr double kMilliseconds = 1;
constexpr double kMostRuns = 16;
constexpr size_t kMeasurements = 5;

/// Clears the error of a failed call, so that no later CUDA call reports it.
bool fine(cudaError_t error) {
  if (error == cudaSuccess) return true;
  (void)cudaGetLastError();
  return false;
}

class Clock {
 public:
  explicit Clock(const Launcher& launcher)
      : stream_(launcher.stream),
        begin_(make_event(launcher, cudaEventDefault)),
        end_(make_event(launcher, cudaEventDefault)) {}

  /// Milliseconds of what `work` puts on the stream; nothing where it says false.
  std::optional<double> take(const std::function<bool()>& work) {
    float milliseconds = 0;
    const bool done = fine(cudaEventRecord(begin_.get(), stream_)) && work() &&
                      fine(cudaEventRecord(end_.get(), stream_)) && fine(cudaStreamSynchronize(stream_)) &&
                      fine(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    if (!done) return std::nullopt;
    return double{milliseconds};
  }

 private:
  CUstream_st* stream_;
  Event begin_, end_;
};

/// `run`, so many times; nullptr where that cannot be recorded.
GraphExecutable record(CUstream_st* stream, const std::function<bool()>& run, int times) {
  if (!fine(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal))) return nullptr;
  bool good = true;
  for (int i = 0; i < times && good; ++i) good = run();
  cudaGraph_t graph = nullptr;
  const bool ended = fine(cudaStreamEndCapture(stream, &graph));
  const CapturedGraph owner(graph);
  cudaGraphExec_t executable = nullptr;
  if (!good || !ended || !fine(cudaGraphInstantiate(&executable, graph, 0))) return nullptr;
  return GraphExecutable(executable);
}

/// One number of the type, of a hash of its place.
template <class Bits>
Bits number(uint32_t place, Bits half, unsigned mantissa) {
  const uint32_t hash = (place * 2654435761U) ^ (place * 40503U >> 7U);
  const auto sign = static_cast<Bits>((hash & 1U) << (8 * sizeof(Bits) - 1));
  return static_cast<Bits>(half | sign | ((hash >> 1U) & ((1U << mantissa) - 1U)));
}

}  // namespace

DeviceBytes device_bytes(size_t bytes) {
  void* made = nullptr;
  if (!fine(cudaMalloc(&made, std::max<size_t>(bytes, 1)))) return nullptr;
  return DeviceBytes(static_cast<std::byte*>(made));
}

DeviceBytes random_numbers(const Launcher& launcher, size_t count, DType dtype) {
  const size_t bytes = count * dtype_bytes(dtype);
  DeviceBytes memory = device_bytes(bytes);
  if (!memory) return nullptr;
  constexpr uint32_t kPattern = 1U << 18U;
  std::vector<uint32_t> wide(dtype == DType::f32 ? kPattern : 0);
  std::vector<uint16_t> narrow(dtype == DType::f32 ? 0 : kPattern);
  for (uint32_t i = 0; i < wide.size(); ++i) wide[i] = number<uint32_t>(i, 0x3F000000U, 23);
  for (uint32_t i = 0; i < narrow.size(); ++i) {
    narrow[i] = dtype == DType::bf16 ? number<uint16_t>(i, 0x3F00U, 7) : number<uint16_t>(i, 0x3800U, 10);
  }
  const void* pattern = dtype == DType::f32 ? static_cast<const void*>(wide.data()) : narrow.data();
  size_t filled = std::min(bytes, kPattern * dtype_bytes(dtype));
  bool good = fine(cudaMemcpyAsync(memory.get(), pattern, filled, cudaMemcpyHostToDevice, launcher.stream));
  while (good && filled < bytes) {
    const size_t more = std::min(filled, bytes - filled);
    good = fine(cudaMemcpyAsync(memory.get() + filled, memory.get(), more, cudaMemcpyDeviceToDevice, launcher.stream));
    filled += more;
  }
  // Also where it went wrong: the pattern must not go while it is read.
  good = fine(cudaStreamSynchronize(launcher.stream)) && good;
  return good ? std::move(memory) : nullptr;
}

std::optional<double> device_milliseconds(const Launcher& launcher, const std::function<bool()>& run) {
  Clock clock(launcher);
  if (!clock.take(run)) return std::nullopt;  // loads its kernels
  const std::optional<double> once = clock.take(run);
  if (!once) return std::nullopt;
  const int runs = static_cast<int>(std::clamp(kMilliseconds / std::max(*once, 1e-6), 1.0, kMostRuns));
  const GraphExecutable recorded = record(launcher.stream, run, runs);
  if (!recorded) return std::nullopt;
  const auto launch = [&] { return fine(cudaGraphLaunch(recorded.get(), launcher.stream)); };
  if (!clock.take(launch)) return std::nullopt;  // uploads it
  std::array<double, kMeasurements> took{};
  for (double& each : took) {
    const std::optional<double> now = clock.take(launch);
    if (!now) return std::nullopt;
    each = *now / runs;
  }
  std::ranges::nth_element(took, took.begin() + took.size() / 2);
  return took[took.size() / 2];
}

}  // namespace trainyard::cuda
