#include "trainer/ops/cuda/library/device_backend.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include "trainer/ops/cuda/convolution/pointwise_convolution.h"
#include "trainer/ops/cuda/fused/tiling_choice.h"
#include "trainer/ops/cuda/library/cudnn/convolution.h"
#include "trainer/ops/cuda/library/cudnn/handles.h"
#include "trainer/ops/cuda/library/device_memory.h"
#include "trainer/ops/cuda/library/fused_bench.h"
#include "trainer/ops/cuda/library/loaded/nccl_api.h"
#include "trainer/ops/cuda/library/loaded/nccl_collectives.h"
#include "trainer/ops/cuda/library/streams/recording.h"
#include "trainer/ops/cuda/library/streams/side_stream.h"
#include "trainer/ops/cuda/library/streams/stream_sends.h"
#include "trainer/ops/cuda/library/streams/uploads.h"
#include "trainer/ops/cuda/ops_backend.h"

namespace trainyard::cuda {

namespace {

class DeviceBackend final : public OpsBackend {
 public:
  DeviceBackend(int device, CudaFail fail, PlanChooser* plans) : launcher_{nullptr, fail} {
    check(launcher_, cudaSetDevice(device), "cudaSetDevice");
    cudaDeviceProp properties{};
    check(launcher_, cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    // TF32 and bf16 came with Ampere.
    ampere_ = properties.major >= 8;
    name_ = "cuda:" + std::to_string(device) + " " + properties.name;
    stream_ = make_stream(launcher_);
    launcher_.stream = stream_.get();
    sends_ = make_stream_sends(launcher_, [this](const std::function<bool()>& done) { wait_until(done); });
    blas_ = make_blas(launcher_);
    // Of its own, cuBLAS would take memory while a graph is recorded. 32 MiB on Hopper and later, 4
    // before: NVIDIA's cuBLAS documentation, cublasSetWorkspace().
    const size_t workspace = size_t{properties.major >= 9 ? 32U : 4U} << 20U;
    blas_workspace_ = allocate(workspace);
    check(launcher_, cublasSetWorkspace(blas_.get(), blas_workspace_->data(), workspace), "cublasSetWorkspace");
    dnn_ = make_dnn(launcher_);
    current_dnn_ = dnn_.get();
    device_.launcher = launcher_;
    device_.memory = this;
    device_.make_tickets();
    device_.multiply = [this](const Product& p) { multiply(p); };
    const std::string model =
        std::string(properties.name) + ", " + std::to_string(properties.multiProcessorCount) + " multiprocessors";
    if (properties.major == 9 && properties.minor == 0) {
      fused_ = std::make_unique<FusedKernels>(FusedKernels{
          device_,
          static_cast<unsigned>(properties.multiProcessorCount),
          plans,
          model,
          dnn_name(),
          TRAINYARD_CUDA_KERNELS,
          [this] { return make_fused_bench(launcher_); },
          {name_, [](const std::string& line) { std::fprintf(stderr, "trainer: warning: %s\n", line.c_str()); }}});
      tilings_ = make_tiling_chooser(*fused_);
    }
    device_.plan_convolution = [this, plans, model](const Conv2dParams& p) {
      auto made = plan_convolution({launcher_, current_dnn_, tf32_, p.timed ? plans : nullptr, model}, p);
      if (!fused_) return made;
      return with_pointwise_kernels(launcher_, fused_->processors, p, std::move(made),
                                    p.timed ? tilings_.get() : nullptr);
    };
    device_.make_uploads = [this](size_t bytes) { return make_stream_uploads(launcher_, *this, bytes); };
  }

  std::string name() const override { return name_; }

  bool stores(DType dtype) const override { return dtype != DType::bf16 || ampere_; }
  bool allow_tf32() override {
    if (!ampere_) return false;
    tf32_ = true;
    check(launcher_, cublasSetMathMode(blas_.get(), CUBLAS_TF32_TENSOR_OP_MATH), "cublasSetMathMode");
    return true;
  }

  std::unique_ptr<BackendMemory> allocate(size_t bytes) override {
    return make_device_memory(launcher_, ledger_, bytes, cuda_memory(launcher_));
  }
  std::unique_ptr<BackendMemory> allocate_for_sums(size_t bytes) override {
    return make_device_memory(launcher_, ledger_, bytes, nccl_memory(launcher_));
  }
  std::optional<MemoryFigures> memory_figures() override {
    size_t free = 0;
    size_t total = 0;
    check(launcher_, cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return MemoryFigures{ledger_->used, ledger_->peak, free, total};
  }

  void to_host(void* host, const void* memory, size_t bytes) override {
    copy(host, memory, bytes, cudaMemcpyDeviceToHost, "cudaMemcpyAsync to the host");
  }
  void from_host(void* memory, const void* host, size_t bytes) override {
    copy(memory, host, bytes, cudaMemcpyHostToDevice, "cudaMemcpyAsync to the device");
  }
  void send(void* memory, const void* host, size_t bytes) override { sends_->send(memory, host, bytes); }
  std::unique_ptr<Recording> record(const std::function<void()>& ops) override {
    try {
      return recordings_.record(launcher_, ops);
    } catch (...) {
      if (side_) side_->forget();
      throw;
    }
  }
  bool runs_beside() const override { return true; }
  void run_beside(const std::function<void()>& ops) override {
    if (!side_) side_.emplace(launcher_);
    const OnSideStream switched(*this);
    side_->run(ops);
  }
  void join_beside(size_t rest) override {
    if (side_) side_->join(rest);
  }
  void synchronize() override {
    join_beside(0);
    if (!collectives_) return check(launcher_, cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
    wait_until([this] { return !busy(); });
  }
  bool busy() override {
    const cudaError_t now = cudaStreamQuery(stream_.get());
    if (now != cudaErrorNotReady) check(launcher_, now, "cudaStreamQuery");
    return now == cudaErrorNotReady;
  }

  DeviceGroupId new_group_id() override { return new_nccl_id(launcher_); }
  DeviceCollectives* join(const DeviceGroup& group) override {
    collectives_ = join_nccl(
        {launcher_, [this](size_t bytes) { return allocate_for_sums(bytes); }, [this] { recordings_.drop(); }}, group);
    return collectives_.get();
  }

 private:
  /// Ops that are run in its scope go to the side stream.
  class OnSideStream {
   public:
    explicit OnSideStream(DeviceBackend& backend) : backend_(backend) {
      backend_.device_.launcher = backend_.side_->launcher();
      backend_.current_dnn_ = backend_.side_->dnn();
    }
    ~OnSideStream() {
      backend_.device_.launcher = backend_.launcher_;
      backend_.current_dnn_ = backend_.dnn_.get();
    }
    OnSideStream(const OnSideStream&) = delete;
    OnSideStream& operator=(const OnSideStream&) = delete;

   private:
    DeviceBackend& backend_;
  };

  /// Ops may stand behind sums that need other ranks, who may never come.
  void wait_until(const std::function<bool()>& done) {
    if (collectives_) return collectives_->watch(done);
    while (!done()) std::this_thread::yield();
  }

  /// In order with the ops; the host's side may be used again afterwards.
  void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, const char* call) {
    if (bytes == 0) return;
    // The call itself may wait for the stream, since the host's memory is pageable, and no deadline
    // ends that.
    if (collectives_) synchronize();
    check(launcher_, cudaMemcpyAsync(to, from, bytes, kind, stream_.get()), call);
    synchronize();
  }

  void multiply(const Product& p) {
    const float one = 1;
    const float zero = 0;
    const auto op = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
    if (p.factors == DType::f32) {
      check(launcher_,
            cublasSgemm(blas_.get(), op(p.transpose_a), op(p.transpose_b), p.rows, p.columns, p.inner, &one,
                        static_cast<const float*>(p.a), p.stride_a, static_cast<const float*>(p.b), p.stride_b, &zero,
                        static_cast<float*>(p.c), p.stride_c),
            "cublasSgemm");
      return;
    }
    // The pedantic mode of fp32 keeps tensor cores away from narrow factors too; sums stay fp32 in
    // this one.
    check(launcher_, cublasSetMathMode(blas_.get(), CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION),
          "cublasSetMathMode");
    check(launcher_,
          cublasGemmEx(blas_.get(), op(p.transpose_a), op(p.transpose_b), p.rows, p.columns, p.inner, &one, p.a,
                       type_of(p.factors), p.stride_a, p.b, type_of(p.factors), p.stride_b, &zero, p.c,
                       type_of(p.result), p.stride_c, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
    check(launcher_, cublasSetMathMode(blas_.get(), tf32_ ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_PEDANTIC_MATH),
          "cublasSetMathMode");
  }

  static cudaDataType_t type_of(DType dtype) {
    return dtype == DType::f32 ? CUDA_R_32F : dtype == DType::bf16 ? CUDA_R_16BF : CUDA_R_16F;
  }

  Launcher launcher_;
  std::string name_;
  bool ampere_ = false, tf32_ = false;
  std::unique_ptr<FusedKernels> fused_;  ///< nullptr: the device runs none of them
  std::unique_ptr<TilingChooser> tilings_;
  std::shared_ptr<Ledger> ledger_ = std::make_shared<Ledger>();
  Stream stream_;
  std::unique_ptr<Sends> sends_;
  std::unique_ptr<BackendMemory> blas_workspace_;
  BlasHandle blas_;
  DnnHandle dnn_;
  cudnnHandle_t current_dnn_ = nullptr;  ///< what convolutions run on
  std::optional<SideStream> side_;       ///< made when ops run there for the first time
  Recordings recordings_;
  std::unique_ptr<WatchedCollectives> collectives_;  ///< in a group
};

}  // namespace

std::unique_ptr<Backend> make_device_backend(int device, CudaFail fail, PlanChooser* plans) {
  return std::make_unique<DeviceBackend>(device, fail, plans);
}

}  // namespace trainyard::cuda
