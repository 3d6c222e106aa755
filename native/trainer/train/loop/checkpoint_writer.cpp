#include "trainer/train/loop/checkpoint_writer.h"

#include <cstdio>
#include <new>
#include <span>
#include <system_error>

#include "trainer/base/note.h"
#include "trainer/train/loop/best_step.h"

namespace trainyard {
namespace {

size_t count(const std::vector<TensorView>& views) {
  size_t values = 0;
  for (const TensorView& view : views) values += view.values.size();
  return values;
}

}  // namespace

CheckpointOutcome write_checkpoint(const TrainOptions& options, TrainLog& log, const CheckpointContents& contents,
                                   double held_ms) {
  const Stopwatch clock;
  const auto prune = [&] {
    prune_checkpoints(options.run_dir, options.keep, best_step(options.run_dir, options.eval_data));
  };
  try {
    prune();
    const CheckpointInfo saved = save_checkpoint(options.run_dir, contents);
    prune();
    log.checkpoint(contents.step, saved, clock.milliseconds(), held_ms);
    return {saved.path, "", Retry::pointless};
  } catch (const Error& error) {
    std::fprintf(stderr,
                 "trainer: warning: no checkpoint at step %lld: %s. Training goes on; the last valid one is kept\n",
                 static_cast<long long>(contents.step), error.what());
    log.checkpoint_failed(contents.step, error.what());
    return {"", error.what(), error.retry()};
  }
}

CheckpointWriter::~CheckpointWriter() {
  if (under_way_.valid()) under_way_.wait();
}

void CheckpointWriter::own(std::vector<TensorView>& views) {
  for (TensorView& view : views) {
    const size_t begin = values_.size();
    values_.insert(values_.end(), view.values.begin(), view.values.end());
    view.values = std::span<const float>(values_).subspan(begin, view.values.size());
  }
}

void CheckpointWriter::begin(const CheckpointContents& contents, const Stopwatch& waiting) {
  if (under_way_.valid()) throw Error(Exit::internal, "a checkpoint began before the last one ended. This is a defect");
  if (begin_beside(contents, waiting)) return;
  std::promise<CheckpointOutcome> written;
  under_way_ = written.get_future();
  written.set_value(write_(contents, waiting.milliseconds()));
}

/// False where there is no memory for the copy, or no thread.
bool CheckpointWriter::begin_beside(const CheckpointContents& contents, const Stopwatch& waiting) {
  try {
    contents_ = contents;
    values_.clear();
    values_.reserve(count(contents_.tensors) + count(contents_.optimizer));  // so that no view moves
    own(contents_.tensors);
    own(contents_.optimizer);
    const double held_ms = waiting.milliseconds();
    under_way_ = std::async(std::launch::async, [this, held_ms] { return write_(contents_, held_ms); });
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::system_error&) {
    return false;
  }
}

std::optional<CheckpointOutcome> CheckpointWriter::settle() {
  if (!under_way_.valid()) return std::nullopt;
  const Noted noted(RankWork::saves);
  return under_way_.get();
}

}  // namespace trainyard
