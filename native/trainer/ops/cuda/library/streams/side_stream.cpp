#include "trainer/ops/cuda/library/streams/side_stream.h"

#include <utility>

namespace trainyard::cuda {

SideStream::SideStream(const Launcher& main)
    : main_(main),
      stream_(make_stream(main)),
      side_{stream_.get(), main.fail},
      dnn_(make_dnn(side_)),
      begin_(make_event(main, cudaEventDisableTiming)) {}

void SideStream::run(const std::function<void()>& ops) {
  check(main_, cudaEventRecord(begin_.get(), main_.stream), "cudaEventRecord");
  check(main_, cudaStreamWaitEvent(side_.stream, begin_.get(), 0), "cudaStreamWaitEvent");
  ops();
  if (spare_.empty()) spare_.push_back(make_event(main_, cudaEventDisableTiming));
  check(main_, cudaEventRecord(spare_.back().get(), side_.stream), "cudaEventRecord");
  ends_.push_back(std::move(spare_.back()));
  spare_.pop_back();
}

void SideStream::join(size_t rest) {
  if (ends_.size() <= rest) return;
  // The stream keeps the order: the last one of them stands behind all others.
  check(main_, cudaStreamWaitEvent(main_.stream, ends_[ends_.size() - rest - 1].get(), 0), "cudaStreamWaitEvent");
  while (ends_.size() > rest) {
    spare_.push_back(std::move(ends_.front()));
    ends_.pop_front();
  }
}

}  // namespace trainyard::cuda
