// A second stream, for ops whose results nobody waits for soon.
#pragma once
#include <deque>
#include <functional>
#include <vector>

#include "trainer/ops/cuda/library/cudnn/handles.h"

namespace trainyard::cuda {

/// Its blocks go where those of the main stream leave multiprocessors idle. Works while ops are
/// recorded too, where it becomes a branch of the graph.
class SideStream {
 public:
  /// main: the stream that it stands beside.
  explicit SideStream(const Launcher& main);

  const Launcher& launcher() const { return side_; }
  cudnnHandle_t dnn() const { return dnn_.get(); }

  /// What `ops` puts on launcher() stands behind all that is on the main stream now.
  void run(const std::function<void()>& ops);
  /// What is put on the main stream from now on stands behind all calls of run() but the newest
  /// `rest`.
  void join(size_t rest);
  /// After a failure: nothing is waited for.
  void forget() { ends_.clear(); }

 private:
  Launcher main_;
  Stream stream_;
  Launcher side_;
  DnnHandle dnn_;
  Event begin_;
  std::deque<Event> ends_;  ///< of the calls of run() that were not joined, oldest first
  std::vector<Event> spare_;
};

}  // namespace trainyard::cuda
