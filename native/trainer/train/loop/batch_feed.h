// A loader's batches, step after step, fetched ahead where the device works beside the host.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "trainer/data/source.h"
#include "trainer/models/network.h"

namespace trainyard {

class BatchFeed {
 public:
  /// busy: whether the device has work just now. No step from `end` on is asked for.
  BatchFeed(Loader& loader, std::function<bool()> busy, int image_size, int64_t end)
      : loader_(loader), busy_(std::move(busy)), image_size_(image_size), end_(end) {}
  /// The batch of `step`, which the next take() or done() ends.
  BatchView take(int64_t step);
  /// While the batch of a step is out: that of the step behind it, which take() gives next; none
  /// behind the last one, or where the loader fails, which take() then says.
  std::optional<BatchView> ahead();
  /// The batch that was taken is not needed any more.
  void done();
  /// Milliseconds that the loader was waited for since the last call, but for those in which the
  /// device had work.
  double take_waited_ms();

 private:
  Batch fetch(int64_t step);
  BatchView view(const Batch& batch) const;

  Loader& loader_;
  std::function<bool()> busy_;
  int image_size_;
  int64_t end_;
  int64_t step_ = -1;
  std::optional<Batch> current_, next_;
  double waited_ms_ = 0;
};

}  // namespace trainyard
