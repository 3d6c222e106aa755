// The back end's ops. They know a launcher, a back end's memory and what NVIDIA's libraries do for
// them, and no header of CUDA: the tests run them on the host, with launchers that loop.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "trainer/ops/contract/backend.h"
#include "trainer/ops/cuda/launch.h"
#include "trainer/ops/cuda/math/wide.h"

namespace trainyard::cuda {

/// c = a b, in cuBLAS's own terms: column-major, [rows, inner] times [inner, columns], either
/// factor transposed.
struct Product {
  bool transpose_a, transpose_b;
  int rows, columns, inner;
  const void* a;
  int stride_a;
  const void* b;
  int stride_b;
  void* c;
  int stride_c;
  DType factors = DType::f32;  ///< of a and b
  DType result = DType::f32;   ///< of c: fp32, or as the factors
};

class NormMerging;

/// One convolution over channels-last memory: x [n, h, w, in], weights [out, kernel_h, kernel_w,
/// in], y [n, h', w', out], all stored as the input is and summed in fp32. Every pointer is 64-byte
/// aligned.
class ConvolutionPlans {
 public:
  virtual ~ConvolutionPlans() = default;
  /// The kernels chosen, for logs.
  virtual std::string description() const = 0;
  virtual size_t forward_scratch_bytes() const = 0;
  virtual size_t backward_data_scratch_bytes() const = 0;
  virtual size_t backward_weights_scratch_bytes() const = 0;
  virtual void forward(const void* x, const void* weights, void* y, void* scratch) = 0;
  /// As Conv2dOp has them.
  virtual unsigned sums_rows() const { return 0; }
  virtual void forward_with_sums(const void* x, const void* weights, void* y, void* scratch, float* /*sums*/) {
    forward(x, weights, y, scratch);
  }
  virtual void backward_data(const void* dy, const void* weights, void* dx, void* scratch) = 0;
  virtual unsigned end_sums_rows(GradientEndKind /*kind*/) { return 0; }
  virtual void backward_data_to_end(const void* /*dy*/, const void* /*transposed*/, const GradientEnd& /*end*/,
                                    void* /*g*/) {}
  virtual void backward_weights(const void* x, const void* dy, void* dw, void* scratch) = 0;
  /// The merge of the batch norm behind; nullptr: it is not merged.
  virtual const NormMerging* merging() { return nullptr; }
  virtual size_t kept_bytes() const { return 0; }
  virtual void forward_keeping(const void* x, const void* weights, void* y, void* scratch, void* /*kept*/) {
    forward(x, weights, y, scratch);
  }
  virtual void backward_weights_kept(const void* kept, const void* dy, void* dw, void* scratch) {
    backward_weights(kept, dy, dw, scratch);
  }
};

/// Bytes on their way from the host to the device, beside the ops: in two buffers, one after the
/// other.
class Uploads {
 public:
  virtual ~Uploads() = default;
  /// Starts to bring them; `host` may be used again at once. At most two are under way or in use.
  virtual void start(const void* host, size_t bytes) = 0;
  /// Where those of the oldest start() lie. Ops run from now on come after their arrival, until
  /// done().
  virtual const std::byte* take() = 0;
  /// The ops run so far are all that read them.
  virtual void done() = 0;
};

/// How many tiles of channels a kernel may fold at once (NormFold).
inline constexpr unsigned kTickets = 256;

/// What an op has of its device. Lives as long as the ops.
struct Device {
  Launcher launcher{};
  /// [kTickets] zeros, for kernels that run one after another and leave them zeros.
  std::unique_ptr<BackendMemory> tickets{};
  bool plain_kernels = false;  ///< a thread for each number everywhere: what tests compare with
  /// Of a kernel that sums: two for each of an H100's 132 multiprocessors. More would leave more to
  /// add up in the end. The bits of its sums depend on this number.
  unsigned summing_blocks = 264;
  /// Of a kernel that only passes over the numbers.
  unsigned passing_blocks = 1056;
  Backend* memory = nullptr;                       ///< for buffers of an op's own and copies
  std::function<void(const Product&)> multiply{};  ///< cuBLAS, summed in fp32
  std::function<std::unique_ptr<ConvolutionPlans>(const Conv2dParams&)> plan_convolution{};  ///< cuDNN
  std::function<std::unique_ptr<Uploads>(size_t bytes)> make_uploads{};                      ///< of so many at most

  /// Once `memory` is there.
  void make_tickets();
  /// Memory of its own with these values.
  template <class T>
  std::unique_ptr<BackendMemory> put(const std::vector<T>& values) const {
    auto made = memory->allocate(std::max<size_t>(values.size(), 1) * sizeof(T));
    memory->from_host(made->data(), values.data(), values.size() * sizeof(T));
    return made;
  }
  /// Whether kernels take 16 bytes of neighbouring channels of T at once.
  template <class T>
  bool takes_wide(unsigned channels) const {
    return !plain_kernels && channels % kWide<T> == 0;
  }
  /// Throws Error in the trainer.
  [[noreturn]] void fail(int exit_code, const std::string& message) const;
};

std::unique_ptr<Conv2dOp> make_conv2d(const Device& device, const Conv2dParams& params);
std::unique_ptr<BatchNormOp> make_batch_norm(const Device& device, const BatchNormParams& params);
std::unique_ptr<BatchNormPairOp> make_batch_norm_pair(const Device& device, const BatchNormPairParams& params);
std::unique_ptr<BatchNormPoolOp> make_batch_norm_pool(const Device& device, const BatchNormPoolParams& params);
std::unique_ptr<MaxPoolOp> make_max_pool(const Device& device, const MaxPoolParams& params);
std::unique_ptr<AvgPoolOp> make_avg_pool(const Device& device, const AvgPoolParams& params);
std::unique_ptr<GlobalAvgPoolOp> make_global_avg_pool(const Device& device, const TensorDesc& input);
std::unique_ptr<LinearOp> make_linear(const Device& device, const LinearParams& params);
std::unique_ptr<InputOp> make_input(const Device& device, const TensorDesc& output, const std::array<float, 3>& mean,
                                    const std::array<float, 3>& std);
std::unique_ptr<ShortcutOp> make_shortcut(const Device& device, const TensorDesc& input, int out_channels, int stride);
std::unique_ptr<AddOp> make_add(const Device& device, const TensorDesc& tensor);
std::unique_ptr<ConcatOp> make_concat(const Device& device, const std::vector<TensorDesc>& parts);
std::unique_ptr<DropoutOp> make_dropout(const Device& device, const DropoutParams& params);
std::unique_ptr<SoftmaxCrossEntropyOp> make_softmax_cross_entropy(const Device& device, int classes);

std::unique_ptr<PackOp> make_pack(const Device& device, const std::vector<PackedWeights>& weights);
std::unique_ptr<UpdateOp> make_update(const Device& device, const UpdateParams& params);

/// Fails for a layout other than channels last, which is the only one these ops know (n c 1 1 is
/// plain in both).
void require_channels_last(const Device& device, const TensorDesc& tensor, const char* op);

}  // namespace trainyard::cuda
