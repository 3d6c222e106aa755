#include "trainer/ops/cuda/library/streams/uploads.h"

#include <array>
#include <cstring>
#include <utility>

#include "trainer/ops/cuda/library/cudnn/handles.h"

namespace trainyard::cuda {

namespace {

class StreamUploads final : public Uploads {
 public:
  StreamUploads(const Launcher& launcher, Backend& memory, size_t bytes)
      : launcher_(launcher), bytes_(bytes), stream_(make_stream(launcher)) {
    for (Buffer& buffer : buffers_) {
      buffer.device = memory.allocate(bytes);
      buffer.arrived = make_event(launcher, cudaEventDisableTiming);
      buffer.read = make_event(launcher, cudaEventDisableTiming);
      // Its zeros are written on the ops' stream.
      check(launcher_, cudaEventRecord(buffer.read.get(), launcher_.stream), "cudaEventRecord");
    }
  }
  ~StreamUploads() override {
    // Memory under a copy must not be freed. An error has no one left to tell.
    (void)cudaStreamSynchronize(stream_.get());
  }
  StreamUploads(const StreamUploads&) = delete;
  StreamUploads& operator=(const StreamUploads&) = delete;

  void start(const void* host, size_t bytes) override {
    // Both at once: pinning waits for the device, which in the midst of a step may wait for other
    // ranks.
    for (Buffer& unpinned : buffers_) {
      if (!unpinned.pinned) unpinned.pinned = pin();
    }
    Buffer& buffer = buffers_.at(started_++ % buffers_.size());
    // Of the copy before the last one, which the step before waited for.
    check(launcher_, cudaEventSynchronize(buffer.arrived.get()), "cudaEventSynchronize");
    std::memcpy(buffer.pinned.get(), host, bytes);
    check(launcher_, cudaStreamWaitEvent(stream_.get(), buffer.read.get(), 0), "cudaStreamWaitEvent");
    check(launcher_,
          cudaMemcpyAsync(buffer.device->data(), buffer.pinned.get(), bytes, cudaMemcpyHostToDevice, stream_.get()),
          "cudaMemcpyAsync to the device");
    check(launcher_, cudaEventRecord(buffer.arrived.get(), stream_.get()), "cudaEventRecord");
  }

  const std::byte* take() override {
    const Buffer& buffer = buffers_.at(taken_ % buffers_.size());
    check(launcher_, cudaStreamWaitEvent(launcher_.stream, buffer.arrived.get(), 0), "cudaStreamWaitEvent");
    return buffer.device->data();
  }

  void done() override {
    const Buffer& buffer = buffers_.at(taken_++ % buffers_.size());
    check(launcher_, cudaEventRecord(buffer.read.get(), launcher_.stream), "cudaEventRecord");
  }

 private:
  struct Buffer {
    PinnedMemory pinned;  ///< which the device reads by itself
    std::unique_ptr<BackendMemory> device;
    Event arrived;  ///< on the stream of the copies
    Event read;     ///< on the ops' stream
  };

  PinnedMemory pin() const {
    void* data = nullptr;
    check(launcher_, cudaHostAlloc(&data, bytes_, cudaHostAllocWriteCombined), "cudaHostAlloc");
    return PinnedMemory(static_cast<std::byte*>(data));
  }

  Launcher launcher_;
  size_t bytes_;
  Stream stream_;
  std::array<Buffer, 2> buffers_;
  size_t started_ = 0, taken_ = 0;
};

}  // namespace

std::unique_ptr<Uploads> make_stream_uploads(const Launcher& launcher, Backend& memory, size_t bytes) {
  return std::make_unique<StreamUploads>(launcher, memory, bytes);
}

}  // namespace trainyard::cuda
