#include "trainer/models/replay.h"

#include <cstdio>
#include <utility>

#include "common/error.h"

namespace trainyard {

void Replay::begin(float scale) {
  if (scale == scale_) {
    warm_ = true;
    return;
  }
  // A step ran before, with another scale: nothing is left to be made.
  recordings_.clear();
  warm_ = scale_ != 0;
  scale_ = scale;
}

void Replay::forget() {
  recordings_.clear();
  warm_ = false;
  scale_ = 0;
}

void Replay::record(const std::function<void()>& ops) {
  try {
    recording_ = true;
    auto recording = backend_.record(ops);
    recording_ = false;
    if (recording) recordings_.push_back(std::move(recording));
    fails_ = recordings_.empty();
  } catch (const Error& error) {
    recording_ = false;
    if (error.code() != Exit::device) throw;
    std::fprintf(stderr, "trainer: note: a step cannot be recorded here (%s), so its ops are run one by one\n",
                 error.what());
    recordings_.clear();
    fails_ = true;
  }
}

void Replay::run(size_t index, const std::function<void()>& ops) {
  if (warm_ && !fails_ && index == recordings_.size()) record(ops);
  if (index < recordings_.size() && !fails_) return recordings_[index]->run();
  ops();
}

}  // namespace trainyard
