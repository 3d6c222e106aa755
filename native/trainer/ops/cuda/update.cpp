// Optimizers on the device.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "common/error.h"
#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/update_wide.h"

namespace trainyard::cuda {

namespace {

/// Elements whose squares one block of threads adds up.
constexpr unsigned kBlock = 8192;

class CudaUpdate final : public UpdateOp {
 public:
  CudaUpdate(const Device& device, const UpdateParams& params) : device_(device), options_(params.optimizer) {
    const std::vector<std::string> known{"sgd", "lars", "adam", "adamw"};
    if (std::find(known.begin(), known.end(), options_.kind) == known.end()) fail_unknown();
    tabulate(params.ranges);
  }

  void run(float* weights, const float* gradients, float* first, float* second, float lr, int64_t number) override {
    const auto momentum = static_cast<float>(options_.momentum);
    const Arrays arrays{weights, gradients, first, second};
    if (options_.kind == "sgd") {
      update(arrays, SgdRule{lr, momentum});
    } else if (is_adam(options_.kind)) {
      const AdamStep step = adam_step(lr, number, options_.beta1, options_.beta2, options_.epsilon);
      options_.kind == "adamw" ? update(arrays, AdamwRule{step, lr}) : update(arrays, AdamRule{step});
    } else if (options_.kind == "lars") {
      lengths(weights, at<double>(weight_lengths_));
      lengths(gradients, at<double>(gradient_lengths_));
      each(device_.launcher, count_,
           LarsRates{at<TensorRange>(ranges_), at<double>(weight_lengths_), at<double>(gradient_lengths_),
                     at<float>(rates_), double{lr}, options_.trust, options_.weight_decay});
      update(arrays, LarsRule{at<float>(rates_), momentum});
    } else {
      fail_unknown();
    }
  }

  double squared_length(const float* values) override {
    lengths(values, at<double>(gradient_lengths_));
    std::vector<double> host(count_);
    device_.memory->to_host(host.data(), gradient_lengths_->data(), count_ * sizeof(double));
    return std::accumulate(host.begin(), host.end(), 0.0);
  }

  void scale(float* values, float factor) override {
    const size_t wide = elements_ / kWide<float>;
    each(device_.launcher, wide, ScaleWide{values, factor});
    each(device_.launcher, elements_ % kWide<float>, Scale{values + wide * kWide<float>, factor});
  }

  void add(float* sums, const float* values, size_t count, bool more) override {
    const bool aligned = is_wide_aligned(sums) && is_wide_aligned(values);
    const size_t wide = aligned ? count / kWide<float> : 0;
    const size_t done = wide * kWide<float>;
    each(device_.launcher, wide, AddUpWide{sums, values, more});
    each(device_.launcher, count - done, AddUp{sums + done, values + done, more});
  }

 private:
  struct Arrays {
    float* weights;
    const float* gradients;
    float* first;
    float* second;
  };

  [[noreturn]] void fail_unknown() const {
    device_.fail(static_cast<int>(Exit::internal), "There is no optimizer " + options_.kind + " on GPUs. Report it.");
  }

  template <class Rule>
  void update(const Arrays& arrays, const Rule& rule) const {
    const RangeTable table{at<TensorRange>(ranges_), at<unsigned>(first_)};
    const size_t wide = (elements_ + kWide<float> - 1) / kWide<float>;
    each(device_.launcher, wide,
         UpdateWide<Rule>{table, static_cast<unsigned>(elements_), arrays.weights, arrays.gradients, arrays.first,
                          arrays.second, rule});
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
    ranges_ = device_.put(table);
    first_ = device_.put(first);
    blocks_ = device_.put(blocks);
    starts_ = device_.put(starts);
    block_sums_ = device_.memory->allocate(block_count_ * sizeof(double));
    weight_lengths_ = device_.memory->allocate(count_ * sizeof(double));
    gradient_lengths_ = device_.memory->allocate(count_ * sizeof(double));
    rates_ = device_.memory->allocate(count_ * sizeof(float));
  }

  /// Squared lengths of the tensors, [ranges].
  void lengths(const float* values, double* to) const {
    blocks(device_.launcher, block_count_, PartSquares{at<SumBlock>(blocks_), values, at<double>(block_sums_)});
    blocks(device_.launcher, count_, RangeSums{at<double>(block_sums_), at<unsigned>(starts_), to});
  }

  template <class T>
  static T* at(const std::unique_ptr<BackendMemory>& memory) {
    return reinterpret_cast<T*>(memory->data());
  }

  const Device& device_;
  OptimizerOptions options_;
  size_t elements_ = 0, count_ = 0, block_count_ = 0;
  std::unique_ptr<BackendMemory> ranges_, first_, blocks_, starts_;                // tables
  std::unique_ptr<BackendMemory> block_sums_, weight_lengths_, gradient_lengths_;  // double
  std::unique_ptr<BackendMemory> rates_;                                           // [ranges]
};

}  // namespace

std::unique_ptr<UpdateOp> make_update(const Device& device, const UpdateParams& params) {
  return std::make_unique<CudaUpdate>(device, params);
}

}  // namespace trainyard::cuda
