// The weights of all convolutions in one launch.
#include <vector>

#include "trainer/ops/cuda/makers.h"
#include "trainer/ops/cuda/math/repack.h"

namespace trainyard::cuda {

namespace {

unsigned type_of(DType dtype) { return dtype == DType::f32 ? 0U : dtype == DType::bf16 ? 1U : 2U; }

class CudaPack final : public PackOp {
 public:
  CudaPack(const Device& device, const std::vector<PackedWeights>& weights) : device_(device) {
    std::vector<PackJob> jobs;
    std::vector<unsigned> owner;
    for (const PackedWeights& w : weights) {
      const RepackShape shape{static_cast<unsigned>(w.out), static_cast<unsigned>(w.in),
                              static_cast<unsigned>(w.kernel_h * w.kernel_w)};
      jobs.push_back({shape, type_of(w.dtype), static_cast<unsigned>(owner.size()), w.offset, w.to, w.transposed});
      owner.insert(owner.end(), RepackPart::count(shape), static_cast<unsigned>(jobs.size() - 1));
    }
    parts_ = owner.size();
    jobs_ = device_.put(jobs);
    owner_ = device_.put(owner);
  }

  void run(const float* weights) override {
    blocks(device_.launcher, parts_,
           PackAll{weights, reinterpret_cast<const PackJob*>(jobs_->data()),
                   reinterpret_cast<const unsigned*>(owner_->data())});
  }

 private:
  const Device& device_;
  size_t parts_ = 0;
  std::unique_ptr<BackendMemory> jobs_;   // [jobs]
  std::unique_ptr<BackendMemory> owner_;  // [parts] the job of each part
};

}  // namespace

std::unique_ptr<PackOp> make_pack(const Device& device, const std::vector<PackedWeights>& weights) {
  if (weights.empty()) return nullptr;
  return std::make_unique<CudaPack>(device, weights);
}

}  // namespace trainyard::cuda
