#include "trainer/ops/cuda/library/recording.h"

#include <utility>

#include "trainer/ops/cuda/library/handles.h"

namespace trainyard::cuda {

namespace {

class GraphRecording final : public Recording {
 public:
  GraphRecording(const Launcher& launcher, GraphExecutable executable)
      : launcher_(launcher), executable_(std::move(executable)) {}
  void run() override { check(launcher_, cudaGraphLaunch(executable_.get(), launcher_.stream), "cudaGraphLaunch"); }

 private:
  Launcher launcher_;
  GraphExecutable executable_;
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

std::unique_ptr<Recording> record_graph(const Launcher& launcher, const std::function<void()>& ops) {
  Capture capture(launcher);
  ops();
  const CapturedGraph graph = capture.finish();
  cudaGraphExec_t executable = nullptr;
  check(launcher, cudaGraphInstantiate(&executable, graph.get(), 0), "cudaGraphInstantiate");
  GraphExecutable owner(executable);
  // What it takes on the device it takes now, where a failure still leaves another way.
  check(launcher, cudaGraphUpload(executable, launcher.stream), "cudaGraphUpload");
  return std::make_unique<GraphRecording>(launcher, std::move(owner));
}

}  // namespace trainyard::cuda
