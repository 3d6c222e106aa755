#include "trainer/ops/cuda/library/cudnn/convolution.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "common/error.h"
#include "trainer/ops/cuda/library/cudnn/engines.h"
#include "trainer/ops/cuda/library/device_time.h"

namespace trainyard::cuda {

namespace {

enum Id : int64_t { kX = 1, kW = 2, kY = 3 };

cudnnDataType_t type_of(DType stored) {
  switch (stored) {
    case DType::f32:
      return CUDNN_DATA_FLOAT;
    case DType::bf16:
      return CUDNN_DATA_BFLOAT16;
    case DType::f16:
      break;
  }
  return CUDNN_DATA_HALF;
}

/// A tensor [n, c, h, w] that lies in memory as [n, h, w, c].
Descriptor channels_last(const Launcher& launcher, Id id, DType stored, const std::array<int64_t, 4>& dims) {
  const auto& [n, c, h, w] = dims;
  Descriptor tensor(launcher, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const cudnnDataType_t type = type_of(stored);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, static_cast<int64_t>(id))
      .raw(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t{16})
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
      .set(CUDNN_ATTR_TENSOR_STRIDES, std::array<int64_t, 4>{h * w * c, 1, w * c, c});
  tensor.finalize();
  return tensor;
}

Descriptor convolution(const Launcher& launcher, const Conv2dParams& p) {
  Descriptor made(launcher, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const cudnnDataType_t type = CUDNN_DATA_FLOAT;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  const std::array<int64_t, 2> pads{p.pad_h, p.pad_w};
  made.raw(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type)
      .raw(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t{2})
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, pads)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, pads)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, std::array<int64_t, 2>{1, 1})
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, std::array<int64_t, 2>{p.stride_h, p.stride_w});
  made.finalize();
  return made;
}

/// The names of one direction's attributes.
struct Direction {
  const char* name;
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
};

constexpr Direction kForward{"forward",
                             CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
constexpr Direction kBackwardData{"data gradient",
                                  CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
constexpr Direction kBackwardWeights{"weight gradient",
                                     CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                                     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};

std::string text_of(const Conv2dParams& p) {
  return to_string(p.input.shape) + " to " + std::to_string(p.out_channels) + " channels by " +
         std::to_string(p.kernel_h) + "x" + std::to_string(p.kernel_w) + ", stride " + std::to_string(p.stride_h);
}

const Direction& direction(Pass pass) {
  switch (pass) {
    case Pass::forward:
      return kForward;
    case Pass::backward_data:
      return kBackwardData;
    case Pass::backward_weights:
      break;
  }
  return kBackwardWeights;
}

Arithmetic arithmetic_of(const Conv2dParams& p, bool tf32) {
  if (p.input.dtype != DType::f32) return Arithmetic::narrow;
  return tf32 ? Arithmetic::tf32 : Arithmetic::exact;
}

const char* name_of(DType stored) { return stored == DType::f32 ? "fp32" : stored == DType::bf16 ? "bf16" : "fp16"; }

/// All that the time of a pass depends on, beside the device.
std::string work_of(const Conv2dParams& p, Pass pass, bool tf32) {
  const auto pair = [](int a, int b) { return std::to_string(a) + "x" + std::to_string(b); };
  const Shape in = p.input.shape;
  return std::string(direction(pass).name) + ", " + pair(in.n, in.c) + "x" + pair(in.h, in.w) + " to " +
         std::to_string(p.out_channels) + " by " + pair(p.kernel_h, p.kernel_w) + " /" + pair(p.stride_h, p.stride_w) +
         " pad " + pair(p.pad_h, p.pad_w) + ", " +
         (p.input.dtype == DType::f32 && tf32 ? "tf32" : name_of(p.input.dtype));
}

/// What a plan is run on.
struct Operands {
  const void* x;
  const void* w;
  const void* y;
  void* workspace;
};

Descriptor variant_pack(const Launcher& launcher, const Operands& operands) {
  const std::array<int64_t, 3> ids{kX, kW, kY};
  const std::array<const void*, 3> pointers{operands.x, operands.w, operands.y};
  Descriptor pack(launcher, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids)
      .raw(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, pointers.size(),
           static_cast<const void*>(pointers.data()))
      .raw(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, static_cast<const void*>(&operands.workspace));
  pack.finalize();
  return pack;
}

/// Memory for the plans of one convolution while they are measured, made at the first measurement.
class Stage {
 public:
  Stage(const ConvolutionPlanner& planner, const Conv2dParams& p) : planner_(planner), dtype_(p.input.dtype) {
    const Shape out = p.output_shape();
    const auto weights = static_cast<size_t>(p.input.shape.c) * static_cast<size_t>(p.kernel_h * p.kernel_w) *
                         static_cast<size_t>(p.out_channels);
    const size_t outputs = TensorDesc{out, Layout::nhwc, dtype_}.elements();
    sizes_ = {p.input.elements(), weights, outputs};
  }

  std::optional<double> time(const std::vector<Plan>& plans, size_t plan) {
    if (!asked_) make(plans);
    if (!ready_) return std::nullopt;
    const Operands operands{parts_[0].get(), parts_[1].get(), parts_[2].get(), parts_[3].get()};
    const Descriptor pack = variant_pack(planner_.launcher, operands);
    return device_milliseconds(planner_.launcher, [&] {
      return cudnnBackendExecute(planner_.handle, plans[plan].plan.get(), pack.get()) == CUDNN_STATUS_SUCCESS;
    });
  }

 private:
  void make(const std::vector<Plan>& plans) {
    asked_ = true;
    size_t workspace = 0;
    for (const Plan& plan : plans) workspace = std::max(workspace, plan.workspace);
    for (size_t i = 0; i < sizes_.size(); ++i) {
      parts_[i] = random_numbers(planner_.launcher, sizes_[i], dtype_);
      if (!parts_[i]) return;
    }
    if (workspace > 0) parts_[3] = device_bytes(workspace);
    ready_ = workspace == 0 || parts_[3] != nullptr;
  }

  const ConvolutionPlanner& planner_;
  DType dtype_;
  std::array<size_t, 3> sizes_;  ///< of x, w and y, elements
  std::array<DeviceBytes, 4> parts_;
  bool asked_ = false, ready_ = false;
};

Plan make_plan(const ConvolutionPlanner& planner, const Conv2dParams& p, Pass pass) {
  const Launcher& launcher = planner.launcher;
  const Target target{planner.handle, nullptr};
  const Descriptor graph = convolution_graph(launcher, planner.handle, p, pass);
  const Arithmetic arithmetic = arithmetic_of(p, planner.tf32);
  std::optional<Plan> plan;
  if (planner.chooser == nullptr || !p.training) {
    plan = choose_plan(launcher, target, graph, arithmetic);
  } else {
    Stage stage(planner, p);
    const Tuning tuning{*planner.chooser,
                        {planner.device, dnn_name(), work_of(p, pass, planner.tf32)},
                        [&](const std::vector<Plan>& plans, size_t one) { return stage.time(plans, one); }};
    plan = tuned_plan(launcher, target, graph, arithmetic, tuning);
  }
  if (!plan) {
    const std::string message = "cuDNN has no engine for the " + std::string(direction(pass).name) +
                                " of a convolution of " + text_of(p) + " in " + name_of(p.input.dtype) +
                                " on this GPU. Update cuDNN, use another --precision, or --device cpu";
    launcher.fail(static_cast<int>(Exit::device), message.c_str(), false);
  }
  return std::move(*plan);
}

class DnnConvolution final : public ConvolutionPlans {
 public:
  DnnConvolution(const ConvolutionPlanner& planner, const Conv2dParams& p)
      : launcher_(planner.launcher), handle_(planner.handle), forward_(make_plan(planner, p, Pass::forward)) {
    if (p.training) weights_.emplace(make_plan(planner, p, Pass::backward_weights));
    if (p.training && p.input_gradient) data_.emplace(make_plan(planner, p, Pass::backward_data));
  }

  std::string description() const override {
    return "forward " + forward_.name + (data_ ? ", data " + data_->name : "") +
           (weights_ ? ", weights " + weights_->name : "");
  }

  size_t forward_scratch_bytes() const override { return bytes(forward_); }
  size_t backward_data_scratch_bytes() const override { return data_ ? bytes(*data_) : 0; }
  size_t backward_weights_scratch_bytes() const override { return weights_ ? bytes(*weights_) : 0; }

  void forward(const void* x, const void* weights, void* y, void* scratch) override {
    run(forward_, x, weights, y, scratch);
  }
  void backward_data(const void* dy, const void* weights, void* dx, void* scratch) override {
    run(*data_, dx, weights, dy, scratch);
  }
  void backward_weights(const void* x, const void* dy, void* dw, void* scratch) override {
    run(*weights_, x, dw, dy, scratch);
  }

 private:
  static constexpr size_t kAlignment = 256;  // what cudaMalloc gives, so what every engine can live with

  static size_t bytes(const Plan& plan) { return plan.workspace == 0 ? 0 : plan.workspace + kAlignment; }

  void run(const Plan& plan, const void* x, const void* w, const void* y, void* scratch) {
    void* workspace = nullptr;
    if (plan.workspace > 0) {
      const auto address = reinterpret_cast<uintptr_t>(scratch);
      workspace = static_cast<std::byte*>(scratch) + (kAlignment - address % kAlignment) % kAlignment;
    }
    const Descriptor pack = variant_pack(launcher_, {x, w, y, workspace});
    check(launcher_, cudnnBackendExecute(handle_, plan.plan.get(), pack.get()), "cudnnBackendExecute");
  }

  const Launcher& launcher_;
  const cudnnHandle_t& handle_;
  Plan forward_;
  std::optional<Plan> data_, weights_;
};

}  // namespace

Descriptor convolution_graph(const Launcher& launcher, cudnnHandle_t handle, const Conv2dParams& p, Pass pass) {
  const Direction& d = direction(pass);
  const Shape in = p.input.shape;
  const Shape out = p.output_shape();
  const Descriptor x = channels_last(launcher, kX, p.input.dtype, {in.n, in.c, in.h, in.w});
  const Descriptor w = channels_last(launcher, kW, p.input.dtype, {out.c, in.c, p.kernel_h, p.kernel_w});
  const Descriptor y = channels_last(launcher, kY, p.input.dtype, {out.n, out.c, out.h, out.w});
  const Descriptor description = convolution(launcher, p);
  Descriptor operation(launcher, d.operation);
  operation.set(d.x, x).set(d.w, w).set(d.y, y).set(d.convolution, description).set(d.alpha, 1.0F).set(d.beta, 0.0F);
  operation.finalize();
  Descriptor graph(launcher, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (handle != nullptr) graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  graph.finalize();
  return graph;
}

std::string dnn_name() {
  const size_t version = cudnnGetVersion();
  return "cuDNN " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

std::unique_ptr<ConvolutionPlans> plan_convolution(const ConvolutionPlanner& planner, const Conv2dParams& params) {
  return std::make_unique<DnnConvolution>(planner, params);
}

}  // namespace trainyard::cuda
