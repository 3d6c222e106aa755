#include "trainer/train/loop/batch_feed.h"

#include <exception>
#include <utility>

#include "trainer/base/note.h"
#include "trainer/train/process/interval.h"

namespace trainyard {

BatchView BatchFeed::take(int64_t step) {
  done();
  current_ = next_ ? std::exchange(next_, std::nullopt) : fetch(step);
  step_ = step;
  return view(*current_);
}

std::optional<BatchView> BatchFeed::ahead() {
  if (step_ + 1 >= end_) return std::nullopt;
  try {
    if (!next_) next_ = fetch(step_ + 1);
  } catch (const std::exception&) {
    // The step that runs is not to be lost for it: the loader says it again when this batch is
    // taken.
    return std::nullopt;
  }
  return view(*next_);
}

void BatchFeed::done() {
  if (current_) loader_.recycle(std::move(*current_));
  current_.reset();
}

double BatchFeed::take_waited_ms() { return std::exchange(waited_ms_, 0.0); }

Batch BatchFeed::fetch(int64_t step) {
  const Noted noted(RankWork::takes_images, step + 1);
  const Stopwatch waiting;
  Batch batch = loader_.next(step);
  if (!busy_()) waited_ms_ += waiting.milliseconds();
  return batch;
}

BatchView BatchFeed::view(const Batch& batch) const {
  BatchView view{batch.count, image_size_, batch.images.data(), batch.labels.data()};
  if (!batch.other_labels.empty()) view.other_labels = batch.other_labels.data();
  view.share = batch.share;
  return view;
}

}  // namespace trainyard
