#include "trainer/ops/cuda/library/streams/recording.h"

#include <utility>

#include "common/error.h"
#include "trainer/ops/cuda/library/cudnn/handles.h"

namespace trainyard::cuda {

struct RecordedGraph {
  GraphExecutable executable;
};

namespace {

class GraphRecording final : public Recording {
 public:
  GraphRecording(const Launcher& launcher, std::shared_ptr<RecordedGraph> graph)
      : launcher_(launcher), graph_(std::move(graph)) {}
  void run() override {
    if (!graph_->executable) {
      launcher_.fail(static_cast<int>(Exit::device),
                     "A step was recorded for a group that this rank has left. Start again with --resume auto", true);
    }
    check(launcher_, cudaGraphLaunch(graph_->executable.get(), launcher_.stream), "cudaGraphLaunch");
  }

 private:
  Launcher launcher_;
  std::shared_ptr<RecordedGraph> graph_;
};

/// A stream that keeps what it is given. Whatever leaves its scope early leaves an ordinary stream
/// behind.
class Capture {
 public:
  explicit Capture(const Launcher& launcher) : launcher_(launcher) {
    // Of this thread alone: others may allocate and copy meanwhile.
    check(launcher_, cudaStreamBeginCapture(launcher_.stream, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
  }
  ~Capture() {
    if (!open_) return;
    const CapturedGraph unused(end().second);
    (void)cudaGetLastError();  // that it was broken off
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  CapturedGraph finish() {
    const auto [error, graph] = end();
    CapturedGraph owner(graph);
    check(launcher_, error, "cudaStreamEndCapture");
    return owner;
  }

 private:
  std::pair<cudaError_t, cudaGraph_t> end() {
    open_ = false;
    cudaGraph_t graph = nullptr;
    const cudaError_t error = cudaStreamEndCapture(launcher_.stream, &graph);
    return {error, graph};
  }

  Launcher launcher_;
  bool open_ = true;
};

}  // namespace

std::unique_ptr<Recording> Recordings::record(const Launcher& launcher, const std::function<void()>& ops) {
  Capture capture(launcher);
  ops();
  const CapturedGraph graph = capture.finish();
  cudaGraphExec_t executable = nullptr;
  check(launcher, cudaGraphInstantiate(&executable, graph.get(), 0), "cudaGraphInstantiate");
  GraphExecutable owner(executable);
  // What it takes on the device it takes now, where a failure still leaves another way.
  check(launcher, cudaGraphUpload(executable, launcher.stream), "cudaGraphUpload");
  std::erase_if(made_, [](const auto& one) { return one.expired(); });
  auto kept = std::make_shared<RecordedGraph>(std::move(owner));
  made_.push_back(kept);
  return std::make_unique<GraphRecording>(launcher, std::move(kept));
}

void Recordings::drop() {
  for (const auto& one : made_) {
    if (const auto graph = one.lock()) graph->executable.reset();
  }
  made_.clear();
}

}  // namespace trainyard::cuda
