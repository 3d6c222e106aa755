#include "trainer/ops/cuda/library/loaded/nvjpeg_decoder.h"

#include <array>
#include <cstring>
#include <string>

#include "common/error.h"
#include "trainer/ops/cuda/library/cudnn/handles.h"
#include "trainer/ops/cuda/library/loaded/nvjpeg_api.h"
#include "trainer/ops/cuda/math/resize.h"

namespace trainyard::cuda {

#ifdef TRAINYARD_NVJPEG

namespace {

/// Chroma as libjpeg interpolates it; what breaks the rules is left to the host, which says what is
/// wrong with it.
constexpr unsigned kFlags = (NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION) | (NVJPEG_FLAGS_BITSTREAM_STRICT);

/// Destroys by a function that was found at run time.
template <class T>
struct DestroyBy {
  nvjpegStatus_t (*destroy)(T*);
  void operator()(T* handle) const { (void)destroy(handle); }
};
using Handle = std::unique_ptr<nvjpegHandle, DestroyBy<nvjpegHandle>>;
using State = std::unique_ptr<nvjpegJpegState, DestroyBy<nvjpegJpegState>>;

/// What nvJPEG does not decode, as opposed to a device that does not work.
bool is_about_the_file(nvjpegStatus_t status) {
  return status == NVJPEG_STATUS_BAD_JPEG || status == NVJPEG_STATUS_JPEG_NOT_SUPPORTED ||
         status == NVJPEG_STATUS_INCOMPLETE_BITSTREAM || status == NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED;
}

/// Grows to the largest that was asked for.
template <class Memory, auto allocate>
class Buffer {
 public:
  std::byte* of(const Launcher& launcher, size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      bytes_ = 0;
      void* data = nullptr;
      const cudaError_t error = allocate(&data, bytes);
      if (error == cudaErrorMemoryAllocation) fail_out_of_memory(launcher, bytes);
      check(launcher, error, "memory for images");
      memory_.reset(static_cast<std::byte*>(data));
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  Memory memory_;
  size_t bytes_ = 0;
};

inline cudaError_t allocate_device(void** data, size_t bytes) { return cudaMalloc(data, bytes); }
inline cudaError_t allocate_pinned(void** data, size_t bytes) {
  return cudaHostAlloc(data, bytes, cudaHostAllocDefault);
}
using DeviceBuffer = Buffer<std::unique_ptr<std::byte, FreeBy<cudaFree>>, allocate_device>;
using PinnedBuffer = Buffer<PinnedMemory, allocate_pinned>;

class NvjpegDecoder final : public DeviceJpeg {
 public:
  NvjpegDecoder(int device, const Launcher& launcher)
      : launcher_{nullptr, launcher.fail}, api_(load_nvjpeg_api(launcher)) {
    check(launcher_, cudaSetDevice(device), "cudaSetDevice");  // of this thread, which is the only one
    stream_ = make_stream(launcher_);
    launcher_.stream = stream_.get();
    nvjpegHandle_t handle = nullptr;
    // Not every GPU has engines for JPEG.
    if (api_.create_ex(NVJPEG_BACKEND_HARDWARE, nullptr, nullptr, kFlags, &handle) != NVJPEG_STATUS_SUCCESS) {
      check_nvjpeg(api_.create_ex(NVJPEG_BACKEND_DEFAULT, nullptr, nullptr, kFlags, &handle), "nvjpegCreateEx");
    }
    handle_ = Handle(handle, {api_.destroy});
    nvjpegJpegState_t state = nullptr;
    check_nvjpeg(api_.state_create(handle, &state), "nvjpegJpegStateCreate");
    state_ = State(state, {api_.state_destroy});
  }
  ~NvjpegDecoder() override {
    // Memory that is in use must not be freed. An error has no one left to tell.
    (void)cudaStreamSynchronize(stream_.get());
  }
  NvjpegDecoder(const NvjpegDecoder&) = delete;
  NvjpegDecoder& operator=(const NvjpegDecoder&) = delete;

  bool read(std::string_view file, int width, int height, const View& view, uint8_t* out) override {
    if (!has_size(file, width, height)) return false;
    const size_t pitch = static_cast<size_t>(width) * 3;
    const size_t bytes = static_cast<size_t>(view.window.width) * static_cast<size_t>(view.window.height) * 3;
    nvjpegImage_t whole{};
    whole.channel[0] = reinterpret_cast<uint8_t*>(whole_.of(launcher_, pitch * static_cast<size_t>(height)));
    whole.pitch[0] = pitch;
    if (!decode(file, whole)) return false;
    auto* resized = reinterpret_cast<uint8_t*>(resized_.of(launcher_, bytes));
    each(launcher_, bytes, ResizeView::of(whole.channel[0], width, view, resized));
    std::byte* pinned = pinned_.of(launcher_, bytes);
    check(launcher_, cudaMemcpyAsync(pinned, resized, bytes, cudaMemcpyDeviceToHost, launcher_.stream),
          "cudaMemcpyAsync to the host");
    check(launcher_, cudaStreamSynchronize(launcher_.stream), "cudaStreamSynchronize");
    std::memcpy(out, pinned, bytes);
    return true;
  }

 private:
  /// nvJPEG writes as much as it finds in the file itself, which must be what there is memory for.
  bool has_size(std::string_view file, int width, int height) const {
    int components = 0;
    nvjpegChromaSubsampling_t subsampling = NVJPEG_CSS_UNKNOWN;
    std::array<int, NVJPEG_MAX_COMPONENT> widths{};
    std::array<int, NVJPEG_MAX_COMPONENT> heights{};
    const nvjpegStatus_t status =
        api_.get_image_info(handle_.get(), reinterpret_cast<const unsigned char*>(file.data()), file.size(),
                            &components, &subsampling, widths.data(), heights.data());
    return status == NVJPEG_STATUS_SUCCESS && widths[0] == width && heights[0] == height;
  }

  /// By the engines, or what of the device else is best for this file: nvjpegDecode() chooses.
  /// False where none does.
  bool decode(std::string_view file, nvjpegImage_t& whole) {
    const nvjpegStatus_t status =
        api_.decode(handle_.get(), state_.get(), reinterpret_cast<const unsigned char*>(file.data()), file.size(),
                    NVJPEG_OUTPUT_RGBI, &whole, launcher_.stream);
    if (status == NVJPEG_STATUS_SUCCESS) return true;
    // Whatever was begun is done with before the file and the memory are given to somebody else.
    check(launcher_, cudaStreamSynchronize(launcher_.stream), "cudaStreamSynchronize");
    if (!is_about_the_file(status)) check_nvjpeg(status, "nvjpegDecode");
    return false;
  }

  void check_nvjpeg(nvjpegStatus_t status, const char* call) const {
    if (status == NVJPEG_STATUS_SUCCESS) return;
    const std::string text = std::string(call) + " failed with status " + std::to_string(status) +
                             " of nvjpegStatus_t. Use --jpeg-decoder cpu; if it comes back, report it";
    launcher_.fail(static_cast<int>(Exit::device), text.c_str(), status == NVJPEG_STATUS_EXECUTION_FAILED);
  }

  Launcher launcher_;
  NvjpegApi api_;
  Stream stream_;
  Handle handle_{nullptr, {nullptr}};
  State state_{nullptr, {nullptr}};
  DeviceBuffer whole_, resized_;
  PinnedBuffer pinned_;
};

}  // namespace

std::unique_ptr<DeviceJpeg> make_nvjpeg_decoder(int device, const Launcher& launcher) {
  return std::make_unique<NvjpegDecoder>(device, launcher);
}

#else

std::unique_ptr<DeviceJpeg> make_nvjpeg_decoder(int /*device*/, const Launcher& launcher) {
  nvjpeg_version(launcher);  // which fails
  return nullptr;
}

#endif

}  // namespace trainyard::cuda
