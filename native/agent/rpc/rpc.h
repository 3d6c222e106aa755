// JSON-RPC 2.0 over lines: which method does what, and what a caller hears when it goes wrong.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/figures/host_sample.h"
#include "agent/gpus/gpu_queue.h"
#include "agent/messages/frames.h"
#include "agent/messages/json.h"
#include "agent/rpc/follow.h"
#include "agent/rpc/gpu_reservations.h"

namespace trainyard {

/// A method whose answer takes time. It goes in steps, so that files are followed meanwhile.
class Job {
 public:
  Job() = default;
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// The result when there is one. Throws as a method does.
  virtual std::optional<Json> step() = 0;
  /// Whether it computes (and wants its next step at once) rather than waits.
  virtual bool computes() const { return false; }
};

using Answer = std::variant<Json, std::unique_ptr<Job>>;

/// What methods work on.
struct ServeContext {
  Followers& followers;
  HostSampler& sampler;
  GpuReservations& gpus;
  GpuQueue& queue;
};

using Method = std::function<Answer(const Fields& params, ServeContext& context)>;
using MethodTable = std::map<std::string, Method>;

void add_host_methods(MethodTable& table);
void add_gpu_methods(MethodTable& table);
void add_run_methods(MethodTable& table);
void add_node_methods(MethodTable& table);
void add_mirror_methods(MethodTable& table);
void add_delete_methods(MethodTable& table);
void add_file_methods(MethodTable& table);
void add_metric_methods(MethodTable& table);
void add_tensorboard_methods(MethodTable& table);

class Dispatcher {
 public:
  Dispatcher(FrameWriter& writer, ServeContext context);

  /// Answers one line from the client, at once or by a job.
  void handle(const LineReader::Line& line);
  /// Steps every job.
  void work();
  bool working() const { return !jobs_.empty(); }
  bool computing() const;

 private:
  struct Running {
    Json id;
    bool wants_answer;
    std::unique_ptr<Job> job;
  };
  void call(const Json& id, bool wants_answer, const Json& request);
  void send_result(const Json& id, Json result);
  void send_error(const Json& id, int code, const std::string& message);
  /// Sends the error that the exception now in flight stands for.
  void send_current_error(const Json& id);

  FrameWriter& writer_;
  ServeContext context_;
  MethodTable table_;
  std::vector<Running> jobs_;
};

}  // namespace trainyard
