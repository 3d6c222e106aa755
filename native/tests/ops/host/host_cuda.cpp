#include "tests/ops/host/host_cuda.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "common/error.h"
#include "tests/ops/host/tape.h"
#include "trainer/base/aligned_memory.h"
#include "trainer/ops/cuda/convolution/pointwise_convolution.h"
#include "trainer/ops/cuda/fused/tiling_choice.h"
#include "trainer/ops/cuda/ops_backend.h"
#include "trainer/ops/cuda/sends.h"

namespace trainyard::test {
namespace {

class HostMemory final : public BackendMemory {
 public:
  HostMemory(std::shared_ptr<MemoryFigures> figures, size_t bytes) : figures_(std::move(figures)), memory_(bytes) {
    figures_->used += bytes;
    figures_->peak = std::max(figures_->peak, figures_->used);
    taken_ = bytes;
  }
  ~HostMemory() override { figures_->used -= taken_; }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  std::byte* data() const override { return memory_.data(); }
  size_t bytes() const override { return memory_.bytes(); }

 private:
  std::shared_ptr<MemoryFigures> figures_;
  AlignedMemory memory_;
  size_t taken_ = 0;
};

/// Numbers that are stored as T.
template <class T>
struct Stored {
  const T* at;
  double operator[](size_t i) const { return double{static_cast<float>(at[i])}; }
};

/// cublasGemmEx by its definition, summed in double: element (r, c) of a column-major matrix of
/// stride s is [r + c s].
template <class T, class Result>
void multiply_stored(const cuda::Product& p) {
  const Stored<T> all_a{static_cast<const T*>(p.a)};
  const Stored<T> all_b{static_cast<const T*>(p.b)};
  for (int c = 0; c < p.columns; ++c) {
    for (int r = 0; r < p.rows; ++r) {
      double sum = 0;
      for (int k = 0; k < p.inner; ++k) {
        const double a = all_a[p.transpose_a ? k + size_t(r) * p.stride_a : r + size_t(k) * p.stride_a];
        const double b = all_b[p.transpose_b ? c + size_t(k) * p.stride_b : k + size_t(c) * p.stride_b];
        sum += a * b;
      }
      static_cast<Result*>(p.c)[r + size_t(c) * p.stride_c] = static_cast<Result>(static_cast<float>(sum));
    }
  }
}

void multiply(const cuda::Product& p) {
  with_stored(p.factors, [&]<class T>(T) {
    if (p.result == p.factors) return multiply_stored<T, T>(p);
    if (p.result != DType::f32) throw Error(Exit::internal, "a product that cuBLAS does not have");
    return multiply_stored<T, float>(p);
  });
}

/// Convolutions over channels-last memory by their definition, summed in double.
class HostConvolution final : public cuda::ConvolutionPlans {
 public:
  /// more: bytes of forward's scratch beyond what it writes.
  HostConvolution(const Conv2dParams& params, Tape& tape, size_t more) : p_(params), tape_(tape), more_(more) {}
  std::string description() const override { return "loops"; }
  // Not zero, so that whoever lays out scratch wrongly is seen.
  size_t forward_scratch_bytes() const override { return kScratch + more_; }
  size_t backward_data_scratch_bytes() const override { return kScratch; }
  size_t backward_weights_scratch_bytes() const override { return kScratch; }

  void forward(const void* x, const void* weights, void* y, void* scratch) override {
    run("convolution: forward", [=, this] {
      const std::vector<float> in = wide(x, p_.input.shape.elements());
      const std::vector<float> w = wide(weights, weight_elements());
      std::vector<double> sums(p_.output_shape().elements());
      each_product([&](size_t iy, size_t ix, size_t iw) { sums[iy] += double{in[ix]} * double{w[iw]}; });
      put(sums, y, scratch);
    });
  }
  void backward_data(const void* dy, const void* weights, void* dx, void* scratch) override {
    run("convolution: data gradient", [=, this] {
      const std::vector<float> out = wide(dy, p_.output_shape().elements());
      const std::vector<float> w = wide(weights, weight_elements());
      std::vector<double> sums(p_.input.shape.elements());
      each_product([&](size_t iy, size_t ix, size_t iw) { sums[ix] += double{out[iy]} * double{w[iw]}; });
      put(sums, dx, scratch);
    });
  }
  void backward_weights(const void* x, const void* dy, void* dw, void* scratch) override {
    run("convolution: weight gradient", [=, this] {
      const std::vector<float> in = wide(x, p_.input.shape.elements());
      const std::vector<float> out = wide(dy, p_.output_shape().elements());
      std::vector<double> sums(weight_elements());
      each_product([&](size_t iy, size_t ix, size_t iw) { sums[iw] += double{out[iy]} * double{in[ix]}; });
      put(sums, dw, scratch);
    });
  }

 private:
  static constexpr size_t kScratch = 192;

  /// Every pass touches x, y and the weights once, or their gradients.
  void run(const char* pass, const std::function<void()>& op) const {
    const size_t numbers = p_.input.shape.elements() + p_.output_shape().elements() + weight_elements();
    tape_.run(op, pass, numbers * dtype_bytes(p_.input.dtype));
  }

  size_t weight_elements() const {
    return size_t(p_.out_channels) * p_.kernel_h * p_.kernel_w * size_t(p_.input.shape.c);
  }

  std::vector<float> wide(const void* from, size_t count) const {
    std::vector<float> numbers(count);
    with_stored(p_.input.dtype, [&]<class T>(T) {
      for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(static_cast<const T*>(from)[i]);
    });
    return numbers;
  }

  void put(const std::vector<double>& sums, void* to, void* scratch) const {
    std::memset(scratch, 0xFF, kScratch);
    with_stored(p_.input.dtype, [&]<class T>(T) {
      for (size_t i = 0; i < sums.size(); ++i) static_cast<T*>(to)[i] = static_cast<T>(static_cast<float>(sums[i]));
    });
  }

  template <class Body>
  void each_product(const Body& body) const {
    const Shape in = p_.input.shape;
    const Shape out = p_.output_shape();
    for (int n = 0; n < out.n; ++n) {
      for (int h = 0; h < out.h; ++h) {
        for (int w = 0; w < out.w; ++w) {
          for (int kh = 0; kh < p_.kernel_h; ++kh) {
            for (int kw = 0; kw < p_.kernel_w; ++kw) {
              const int from_h = h * p_.stride_h - p_.pad_h + kh;
              const int from_w = w * p_.stride_w - p_.pad_w + kw;
              if (from_h < 0 || from_h >= in.h || from_w < 0 || from_w >= in.w) continue;
              const size_t iy = ((size_t(n) * out.h + h) * out.w + w) * out.c;
              const size_t ix = ((size_t(n) * in.h + from_h) * in.w + from_w) * in.c;
              const size_t iw = (size_t(kh) * p_.kernel_w + kw) * in.c;
              const size_t filter = size_t(p_.kernel_h) * p_.kernel_w * in.c;
              for (int o = 0; o < out.c; ++o) {
                for (int c = 0; c < in.c; ++c) body(iy + o, ix + c, iw + o * filter + c);
              }
            }
          }
        }
      }
    }
  }

  Conv2dParams p_;
  Tape& tape_;
  size_t more_;
};

/// Copies that are there at once. Whoever reads them too late finds other bytes.
class HostUploads final : public cuda::Uploads {
 public:
  HostUploads(Backend& memory, size_t bytes) {
    for (auto& buffer : buffers_) buffer = memory.allocate(bytes);
  }
  void start(const void* host, size_t bytes) override {
    if (started_ - done_ == buffers_.size()) throw Error(Exit::internal, "a third copy is under way");
    std::memcpy(buffers_.at(started_++ % buffers_.size())->data(), host, bytes);
  }
  const std::byte* take() override {
    if (started_ == done_) throw Error(Exit::internal, "no copy is under way");
    return buffers_.at(done_ % buffers_.size())->data();
  }
  void done() override {
    const auto& buffer = buffers_.at(done_++ % buffers_.size());
    std::memset(buffer->data(), 0xEE, buffer->bytes());
  }

 private:
  std::array<std::unique_ptr<BackendMemory>, 2> buffers_;
  size_t started_ = 0, done_ = 0;
};

class HostRecording final : public Recording {
 public:
  HostRecording(std::vector<std::function<void()>> ops, Recorded& recorded)
      : ops_(std::move(ops)), recorded_(recorded) {
    ++recorded_.made;
  }
  void run() override {
    ++recorded_.runs;
    for (const auto& op : ops_) op();
  }

 private:
  std::vector<std::function<void()>> ops_;
  Recorded& recorded_;
};

/// A place that is read at once.
class HostPlace final : public cuda::SendPlace {
 public:
  std::byte* data() override { return memory_.data(); }
  void start(void* memory, size_t bytes) override {
    std::memcpy(memory, memory_.data(), bytes);
    std::ranges::fill(memory_, std::byte{0xEE});
  }
  bool is_read() override { return true; }

 private:
  std::array<std::byte, cuda::kMostSent> memory_{};
};

/// Multiprocessors of an H100 or H200.
constexpr unsigned kProcessors = 132;

class HostCuda final : public cuda::OpsBackend {
 public:
  HostCuda(size_t bytes, HostGroups groups, Recorded* recorded = nullptr, HostTraffic* traffic = nullptr)
      : figures_(std::make_shared<MemoryFigures>()),
        groups_(std::move(groups)),
        recorded_(recorded != nullptr ? *recorded : own_),
        traffic_(traffic != nullptr ? *traffic : own_traffic_) {
    figures_->total = bytes;
    device_.launcher = {tape_.stream(), [](int code, const char* message, bool worth_retrying) {
                          throw Error(static_cast<Exit>(code), message,
                                      worth_retrying ? Retry::worthwhile : Retry::pointless);
                        }};
    device_.memory = this;
    device_.make_tickets();
    device_.multiply = [this](const cuda::Product& p) {
      const size_t factors = (size_t(p.rows) + size_t(p.columns)) * size_t(p.inner);
      const size_t bytes =
          factors * dtype_bytes(p.factors) + size_t(p.rows) * size_t(p.columns) * dtype_bytes(p.result);
      tape_.run([p] { multiply(p); }, "last layer", bytes);
    };
    device_.plan_convolution = [this](const Conv2dParams& params) {
      std::unique_ptr<cuda::ConvolutionPlans> plans =
          std::make_unique<HostConvolution>(params, tape_, params.timed ? timed_scratch_ : 0);
      if (apart_) return plans;
      return cuda::with_pointwise_kernels(device_.launcher, kProcessors, params, std::move(plans), tilings_.get());
    };
    std::vector<std::unique_ptr<cuda::SendPlace>> places;
    places.push_back(std::make_unique<HostPlace>());
    sends_ = std::make_unique<cuda::Sends>(std::move(places), [](const std::function<bool()>&) {});
    device_.make_uploads = [this](size_t most) { return std::make_unique<HostUploads>(*this, most); };
  }
  void choose(HostKernels kernels) {
    device_.plain_kernels = kernels.plain;
    apart_ = kernels.apart;
    beside_ = kernels.beside;
    if (kernels.summing_blocks > 0) device_.summing_blocks = kernels.summing_blocks;
    if (kernels.passing_blocks > 0) device_.passing_blocks = kernels.passing_blocks;
    timed_scratch_ = kernels.timed_scratch;
    tape_.forwards = kernels.forwards;
    tape_.dry = static_cast<bool>(kernels.counted);
    counted_ = std::move(kernels.counted);
    tape_.spoil = std::move(kernels.spoil);
    tape_.spoil_pixels = std::move(kernels.spoil_pixels);
    if (!kernels.fused) return;
    fused_ = kernels.fused(device_, kProcessors);
    tilings_ = cuda::make_tiling_chooser(*fused_);
  }
  std::string name() const override { return "cuda arithmetic on the host"; }
  std::unique_ptr<BatchNormPairOp> make_batch_norm_pair(const BatchNormPairParams& params) override {
    return apart_ ? nullptr : OpsBackend::make_batch_norm_pair(params);
  }
  std::unique_ptr<BatchNormPoolOp> make_batch_norm_pool(const BatchNormPoolParams& params) override {
    return apart_ ? nullptr : OpsBackend::make_batch_norm_pool(params);
  }
  std::unique_ptr<BackendMemory> allocate(size_t bytes) override {
    require_no_recording();
    if (bytes > figures_->total - figures_->used) throw Error(Exit::device, "out of memory");
    return std::make_unique<HostMemory>(figures_, bytes);
  }
  std::optional<MemoryFigures> memory_figures() override {
    MemoryFigures now = *figures_;
    now.free = now.total - now.used;
    return now;
  }
  void to_host(void* host, const void* memory, size_t bytes) override {
    synchronize();
    if (bytes > 0) std::memcpy(host, memory, bytes);  // an empty tensor has no address
    traffic_.to_host += bytes;
  }
  void from_host(void* memory, const void* host, size_t bytes) override {
    synchronize();
    if (bytes > 0) std::memcpy(memory, host, bytes);
  }
  void send(void* memory, const void* host, size_t bytes) override {
    require_no_recording();
    sends_->send(memory, host, bytes);
  }
  void synchronize() override {
    require_no_recording();
    tape_.join_beside(0);
    ++traffic_.waits;
    if (counted_) counted_(tape_.counted());
  }
  std::unique_ptr<Recording> record(const std::function<void()>& ops) override {
    if (recorded_.refuses) throw Error(Exit::device, "no recording here");
    tape_.begin();
    ops();
    if (tape_.beside()) throw Error(Exit::internal, "recorded ops beside others were not joined");
    return std::make_unique<HostRecording>(tape_.end(), recorded_);
  }
  bool runs_beside() const override { return beside_; }
  void run_beside(const std::function<void()>& ops) override { beside_ ? tape_.run_beside(ops) : ops(); }
  void join_beside(size_t rest) override { tape_.join_beside(rest); }
  DeviceGroupId new_group_id() override { return groups_.make(); }
  DeviceCollectives* join(const DeviceGroup& group) override {
    collectives_ = groups_.join(
        group, {*this, [this](std::function<void()> op) { tape_.run(std::move(op), "sum over the ranks", 0); }});
    return collectives_.get();
  }

 private:
  /// What a stream that is captured would refuse.
  void require_no_recording() const {
    if (tape_.recording()) throw Error(Exit::internal, "a recorded op allocates, copies or waits");
  }

  Tape tape_;
  bool apart_ = false, beside_ = true;
  size_t timed_scratch_ = 0;
  std::function<void(const Tape::Counted&)> counted_;
  std::unique_ptr<cuda::FusedKernels> fused_;
  std::unique_ptr<cuda::TilingChooser> tilings_;
  std::shared_ptr<MemoryFigures> figures_;
  HostGroups groups_;
  Recorded own_;
  Recorded& recorded_;
  HostTraffic own_traffic_;
  HostTraffic& traffic_;
  std::unique_ptr<cuda::Sends> sends_;
  std::unique_ptr<DeviceCollectives> collectives_;
};

}  // namespace

std::unique_ptr<Backend> make_host_cuda() { return make_host_cuda_in({}); }
std::unique_ptr<Backend> make_host_cuda_of(size_t bytes) { return std::make_unique<HostCuda>(bytes, HostGroups{}); }
std::unique_ptr<Backend> make_host_cuda_with(HostKernels kernels) {
  auto made = std::make_unique<HostCuda>(size_t{1} << 40U, HostGroups{});
  made->choose(std::move(kernels));
  return made;
}
std::unique_ptr<Backend> make_host_cuda_recording(Recorded& recorded) {
  return std::make_unique<HostCuda>(size_t{1} << 40U, HostGroups{}, &recorded);
}
std::unique_ptr<Backend> make_host_cuda_in(HostGroups groups, HostTraffic* traffic) {
  return std::make_unique<HostCuda>(size_t{1} << 40U, std::move(groups), nullptr, traffic);
}

}  // namespace trainyard::test
