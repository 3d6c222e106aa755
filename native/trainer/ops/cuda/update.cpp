// Optimizers on the device.
#include "trainer/ops/cuda/math/update.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "common/error.h"
#include "trainer/ops/cuda/makers.h"

namespace trainyard::cuda {

namespace {

/// Elements whose squares one block of threads adds up.
constexpr unsigned kBlock = 8192;

class CudaUpdate final : public UpdateOp {
 public:
  CudaUpdate(const Device& device, const UpdateParams& params) : device_(device), options_(params.optimizer) {
    const std::vector<std::string> known{"sgd", "lars", "adam"};
    if (std::find(known.begin(), known.end(), options_.kind) == known.end()) {
      device.fail(static_cast<int>(Exit::internal), "There is no optimizer " + options_.kind + " on GPUs. Report it.");
    }
    tabulate(params.ranges);
  }

  void run(float* weights, const float* gradients, float* first, float* second, float lr, int64_t number) override {
    const auto momentum = static_cast<float>(options_.momentum);
    const RangeTable table{at<TensorRange>(ranges_), at<unsigned>(first_)};
    if (options_.kind == "sgd") {
      each(device_.launcher, elements_, SgdUpdate{table, weights, first, gradients, lr, momentum});
    } else if (options_.kind == "adam") {
      each(device_.launcher, elements_, AdamUpdate{table, weights, first, second, gradients, adam(lr, number)});
    } else {
      lengths(weights, at<double>(weight_lengths_));
      lengths(gradients, at<double>(gradient_lengths_));
      each(device_.launcher, count_,
           LarsRates{at<TensorRange>(ranges_), at<double>(weight_lengths_), at<double>(gradient_lengths_),
                     at<float>(rates_), double{lr}, options_.trust, options_.weight_decay});
      each(device_.launcher, elements_, LarsUpdate{table, weights, first, gradients, at<float>(rates_), momentum});
    }
  }

  double squared_length(const float* values) override {
    lengths(values, at<double>(gradient_lengths_));
    std::vector<double> host(count_);
    device_.memory->to_host(host.data(), gradient_lengths_->data(), count_ * sizeof(double));
    return std::accumulate(host.begin(), host.end(), 0.0);
  }

  void scale(float* values, float factor) override { each(device_.launcher, elements_, Scale{values, factor}); }

  void add(float* sums, const float* values, size_t count, bool more) override {
    each(device_.launcher, count, AddUp{sums, values, more});
  }

 private:
  AdamStep adam(float lr, int64_t number) const {
    return adam_step(lr, number, options_.beta1, options_.beta2, options_.epsilon);
  }

  void tabulate(const std::vector<ParameterRange>& ranges) {
    std::vector<TensorRange> table;
    std::vector<SumBlock> blocks;
    std::vector<unsigned> starts{0};
    for (const ParameterRange& range : ranges) {
      if (range.offset != elements_ || range.size == 0 || range.size > kMostElements - elements_) {
        device_.fail(static_cast<int>(Exit::internal), "The tensors of an arena do not touch one another. Report it.");
      }
      const auto begin = static_cast<unsigned>(range.offset);
      const auto end = static_cast<unsigned>(range.offset + range.size);
      table.push_back({end, range.adapt ? 1U : 0U, range.decay ? static_cast<float>(options_.weight_decay) : 0.0F});
      for (unsigned at = begin; at < end; at += std::min(kBlock, end - at)) {
        blocks.push_back({at, at + std::min(kBlock, end - at)});
      }
      starts.push_back(static_cast<unsigned>(blocks.size()));
      elements_ = end;
    }
    std::vector<unsigned> first;
    for (unsigned i = 0, range = 0; i < elements_; i += kRangeEntry) {
      while (i >= table[range].end) ++range;
      first.push_back(range);
    }
    count_ = table.size();
    block_count_ = blocks.size();
    ranges_ = put(table);
    first_ = put(first);
    blocks_ = put(blocks);
    starts_ = put(starts);
    lane_sums_ = device_.memory->allocate(block_count_ * kLanes * sizeof(double));
    block_sums_ = device_.memory->allocate(block_count_ * sizeof(double));
    weight_lengths_ = device_.memory->allocate(count_ * sizeof(double));
    gradient_lengths_ = device_.memory->allocate(count_ * sizeof(double));
    rates_ = device_.memory->allocate(count_ * sizeof(float));
  }

  /// Squared lengths of the tensors, [ranges].
  void lengths(const float* values, double* to) const {
    each(device_.launcher, block_count_ * kLanes, BlockSquares{at<SumBlock>(blocks_), values, at<double>(lane_sums_)});
    each(device_.launcher, block_count_, FoldLanes{at<double>(lane_sums_), at<double>(block_sums_)});
    each(device_.launcher, count_, FoldBlocks{at<double>(block_sums_), at<unsigned>(starts_), to});
  }

  template <class T>
  std::unique_ptr<BackendMemory> put(const std::vector<T>& values) const {
    auto memory = device_.memory->allocate(std::max<size_t>(values.size(), 1) * sizeof(T));
    device_.memory->from_host(memory->data(), values.data(), values.size() * sizeof(T));
    return memory;
  }
  template <class T>
  static T* at(const std::unique_ptr<BackendMemory>& memory) {
    return reinterpret_cast<T*>(memory->data());
  }

  const Device& device_;
  OptimizerOptions options_;
  size_t elements_ = 0, count_ = 0, block_count_ = 0;
  std::unique_ptr<BackendMemory> ranges_, first_, blocks_, starts_;                            // tables
  std::unique_ptr<BackendMemory> lane_sums_, block_sums_, weight_lengths_, gradient_lengths_;  // double
  std::unique_ptr<BackendMemory> rates_;                                                       // [ranges]
};

}  // namespace

std::unique_ptr<UpdateOp> make_update(const Device& device, const UpdateParams& params) {
  return std::make_unique<CudaUpdate>(device, params);
}

}  // namespace trainyard::cuda
