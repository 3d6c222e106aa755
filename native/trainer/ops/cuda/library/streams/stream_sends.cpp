#include "trainer/ops/cuda/library/streams/stream_sends.h"

#include <utility>
#include <vector>

#include "trainer/ops/cuda/library/cudnn/handles.h"

namespace trainyard::cuda {

namespace {

/// A step of a network with two losses sends three times, or seven where its images are mixtures.
/// Its end waits for all that it sent.
constexpr int kPlaces = 8;

class PinnedPlace final : public SendPlace {
 public:
  explicit PinnedPlace(const Launcher& launcher)
      : launcher_(launcher), read_(make_event(launcher, cudaEventDisableTiming)) {
    void* data = nullptr;
    check(launcher_, cudaHostAlloc(&data, kMostSent, cudaHostAllocDefault), "cudaHostAlloc");
    memory_.reset(static_cast<std::byte*>(data));
  }
  ~PinnedPlace() override {
    // Memory under a copy must not be freed. An error has no one left to tell.
    (void)cudaEventSynchronize(read_.get());
  }
  PinnedPlace(const PinnedPlace&) = delete;
  PinnedPlace& operator=(const PinnedPlace&) = delete;

  std::byte* data() override { return memory_.get(); }
  void start(void* memory, size_t bytes) override {
    // From pinned memory the call never waits for the stream. From pageable memory it may (CUDA
    // runtime API, "API synchronization behavior").
    check(launcher_, cudaMemcpyAsync(memory, memory_.get(), bytes, cudaMemcpyHostToDevice, launcher_.stream),
          "cudaMemcpyAsync to the device");
    check(launcher_, cudaEventRecord(read_.get(), launcher_.stream), "cudaEventRecord");
  }
  bool is_read() override {
    // An event that was never recorded counts as passed.
    const cudaError_t now = cudaEventQuery(read_.get());
    if (now != cudaErrorNotReady) check(launcher_, now, "cudaEventQuery");
    return now == cudaSuccess;
  }

 private:
  Launcher launcher_;
  PinnedMemory memory_;
  Event read_;  ///< on the ops' stream, behind the copy
};

}  // namespace

std::unique_ptr<Sends> make_stream_sends(const Launcher& launcher, Sends::Wait wait) {
  std::vector<std::unique_ptr<SendPlace>> places;
  for (int i = 0; i < kPlaces; ++i) places.push_back(std::make_unique<PinnedPlace>(launcher));
  return std::make_unique<Sends>(std::move(places), std::move(wait));
}

}  // namespace trainyard::cuda
