// The contract between layers and whatever computes for them: the CPU with oneDNN here, GPUs with
// cuDNN in a library of their own. A back end makes ops; an op is made once for its shapes and run
// at every step. One virtual call per op.
//
// Pointers named void* are activations, gradients of activations, workspaces and scratch, in the
// back end's memory, in a layout that an op chose. Pointers named float* are master weights, their
// gradients and statistics: plain fp32. Fusions of several ops (two batch norms that are added, a
// batch norm that is pooled; a convolution with the statistics of the batch norm behind it would be
// another) are further makers, which may return nullptr where a back end has none.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/base/device_group.h"
#include "trainer/ops/contract/batch_norm.h"
#include "trainer/ops/contract/concat.h"
#include "trainer/ops/contract/conv2d.h"
#include "trainer/ops/contract/device_collectives.h"
#include "trainer/ops/contract/dropout.h"
#include "trainer/ops/contract/elementwise.h"
#include "trainer/ops/contract/linear.h"
#include "trainer/ops/contract/loss.h"
#include "trainer/ops/contract/memory_figures.h"
#include "trainer/ops/contract/pack.h"
#include "trainer/ops/contract/pooling.h"
#include "trainer/ops/contract/update.h"

namespace trainyard {

/// Memory of a back end: zeros at first, given back with the object.
class BackendMemory {
 public:
  virtual ~BackendMemory() = default;
  virtual std::byte* data() const = 0;
  virtual size_t bytes() const = 0;
  /// Before all of it is written for the first time, where the system gives memory only as it is
  /// touched.
  virtual void populate() {}
};

/// Ops that are kept, to be run again and again as one piece.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Runs them in order, behind the ops run so far.
  virtual void run() = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;

  /// Whether the host may read and write the back end's memory itself, at any time.
  virtual bool host_memory() const = 0;
  /// Whether its ops take activations of that type here.
  virtual bool stores(DType dtype) const { return dtype == DType::f32; }
  /// Lets ops made from now on take 10 of the 23 bits of fp32 factors (TF32), which tensor cores
  /// do. Returns whether this device has any that do.
  virtual bool allow_tf32() { return false; }
  /// Of one tensor of activations, at most.
  virtual size_t most_elements() const { return SIZE_MAX; }
  /// Nothing where the memory is the host's.
  virtual std::optional<MemoryFigures> memory_figures() { return std::nullopt; }
  /// Memory of no bytes is no error; where it lies is nobody's to read or write.
  virtual std::unique_ptr<BackendMemory> allocate(size_t bytes) = 0;
  /// As allocate(), of the kind in which a group's devices sum fastest. Only where join() gives
  /// something.
  virtual std::unique_ptr<BackendMemory> allocate_for_sums(size_t bytes) { return allocate(bytes); }
  /// Copies between the host and the back end's memory, in order with the ops; `host` may be used
  /// again at once.
  virtual void to_host(void* host, const void* memory, size_t bytes) = 0;
  virtual void from_host(void* memory, const void* host, size_t bytes) = 0;
  /// As from_host, of 64 KiB at most, but does not wait for the ops.
  virtual void send(void* memory, const void* host, size_t bytes) { from_host(memory, host, bytes); }
  /// Waits until every op run so far is done.
  virtual void synchronize() = 0;
  /// Whether ops run so far are not done yet.
  virtual bool busy() { return false; }

  /// Keeps the ops that `ops` runs instead of running them: their arguments stay as they are, what
  /// lies behind pointers is read anew at every run. `ops` must not allocate, copy from or to the
  /// host, or wait. nullptr where one call for many ops would gain nothing. Throws
  /// Error(Exit::device) when it cannot be done; nothing was run then.
  virtual std::unique_ptr<Recording> record(const std::function<void()>& /*ops*/) { return nullptr; }

  /// Whether run_beside() gains anything here.
  virtual bool runs_beside() const { return false; }
  /// Queues the ops of `ops` behind all ops so far and beside those that follow, up to
  /// join_beside(). Those of several calls keep their order.
  virtual void run_beside(const std::function<void()>& ops) { ops(); }
  /// Ops that follow stand behind all calls of run_beside() but the newest `rest`.
  virtual void join_beside(size_t /*rest*/) {}

  /// The layout in which a convolution would like to have a network's input (params.input.layout is
  /// ignored).
  virtual Layout input_layout(const Conv2dParams& params) = 0;

  virtual std::unique_ptr<InputOp> make_input(const TensorDesc& output, const std::array<float, 3>& mean,
                                              const std::array<float, 3>& std) = 0;
  virtual std::unique_ptr<Conv2dOp> make_conv2d(const Conv2dParams& params) = 0;
  virtual std::unique_ptr<BatchNormOp> make_batch_norm(const BatchNormParams& params) = 0;
  /// nullptr: the two batch norms are ops of their own.
  virtual std::unique_ptr<BatchNormPairOp> make_batch_norm_pair(const BatchNormPairParams& /*params*/) {
    return nullptr;
  }
  /// nullptr: batch norm and pooling are ops of their own.
  virtual std::unique_ptr<BatchNormPoolOp> make_batch_norm_pool(const BatchNormPoolParams& /*params*/) {
    return nullptr;
  }
  virtual std::unique_ptr<MaxPoolOp> make_max_pool(const MaxPoolParams& params) = 0;
  virtual std::unique_ptr<AvgPoolOp> make_avg_pool(const AvgPoolParams& params) = 0;
  virtual std::unique_ptr<GlobalAvgPoolOp> make_global_avg_pool(const TensorDesc& input) = 0;
  virtual std::unique_ptr<LinearOp> make_linear(const LinearParams& params) = 0;
  virtual std::unique_ptr<ShortcutOp> make_shortcut(const TensorDesc& input, int out_channels, int stride) = 0;
  virtual std::unique_ptr<AddOp> make_add(const TensorDesc& tensor) = 0;
  virtual std::unique_ptr<ConcatOp> make_concat(const std::vector<TensorDesc>& parts) = 0;
  virtual std::unique_ptr<DropoutOp> make_dropout(const DropoutParams& params) = 0;
  virtual std::unique_ptr<SoftmaxCrossEntropyOp> make_softmax_cross_entropy(int classes) = 0;
  /// Whether make_pack() makes what this back end's convolutions read, forward and backward alike.
  virtual bool packs_at_once() const { return false; }
  /// nullptr for no weights at all.
  virtual std::unique_ptr<PackOp> make_pack(const std::vector<PackedWeights>& /*weights*/) { return nullptr; }
  /// nullptr where the host walks over weights itself.
  virtual std::unique_ptr<UpdateOp> make_update(const UpdateParams& /*params*/) { return nullptr; }

  /// The id of a new group, for one of its ranks to give to the others. Only where join() gives
  /// something.
  virtual DeviceGroupId new_group_id() { return {}; }
  /// Joins the other ranks' devices, once at most: returns when all of them have. Owned by the back
  /// end. nullptr where the memory is the host's.
  virtual DeviceCollectives* join(const DeviceGroup& /*group*/) { return nullptr; }
};

/// The CPU: oneDNN for convolutions, pooling and matrix products, our own kernels for the rest. Its
/// ops belong to one thread at a time and use as many threads as trainyard::threads() says when
/// they are made.
std::unique_ptr<Backend> make_cpu_backend();

}  // namespace trainyard
