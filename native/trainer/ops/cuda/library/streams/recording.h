// Ops kept as a CUDA graph.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "trainer/ops/contract/backend.h"
#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

struct RecordedGraph;

/// The recordings of a back end, which can be given up all at once.
class Recordings {
 public:
  /// Of what `ops` puts on launcher.stream. See Backend::record.
  std::unique_ptr<Recording> record(const Launcher& launcher, const std::function<void()>& ops);
  /// Frees their graphs; a recording that is run from then on fails.
  void drop();

 private:
  std::vector<std::weak_ptr<RecordedGraph>> made_;
};

}  // namespace trainyard::cuda
