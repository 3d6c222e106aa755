// RPC: tensorboard.start, tensorboard.status, tensorboard.stop.
#include "agent/messages/rpc_error.h"
#include "agent/rpc/rpc.h"
#include "agent/system/paths.h"
#include "agent/system/tail.h"
#include "agent/tensorboard/tensorboard.h"
#include "common/error.h"

namespace trainyard {

namespace {

RunFolder folder_of(const Fields& params) {
  const std::string dir = expand_path(params.string("dir"));
  if (!folder_exists(dir)) throw RpcError(RpcCode::not_found, "no folder " + dir);
  return RunFolder(dir);
}

class StartJob : public Job {
 public:
  StartJob(const RunFolder& folder, const TensorboardOptions& options) : start_(folder, options) {}
  std::optional<Json> step() override {
    const auto serving = start_.step();
    if (!serving) return std::nullopt;
    return Json{{"pid", serving->process.pid}, {"socket", serving->socket}};
  }

 private:
  TensorboardStart start_;
};

class StopJob : public Job {
 public:
  explicit StopJob(const RunFolder& folder) : stop_(folder) {}
  std::optional<Json> step() override { return stop_.step() ? std::optional(Json::object()) : std::nullopt; }

 private:
  TensorboardStop stop_;
};

Answer start(const Fields& params, ServeContext&) {
  const RunFolder folder = folder_of(params);
  TensorboardOptions options;
  options.python = expand_path(params.string("python"));
  options.server = expand_path(params.string("server"));
  options.idle = params.number_or("idle", options.idle, 0, 366.0 * 86400);
  for (const std::string& path : {options.python, options.server}) {
    if (!file_exists(path))
      throw RpcError(RpcCode::not_found, path + " does not exist. Prepare this node's runtime first");
  }
  return std::make_unique<StartJob>(folder, options);
}

Answer status(const Fields& params, ServeContext&) {
  const RunFolder folder = folder_of(params);
  const auto living = living_tensorboard(folder);
  const bool serves = living && socket_answers(living->socket);
  return Json{{"running", serves},
              {"pid", living ? Json(living->process.pid) : Json(nullptr)},
              {"socket", living ? Json(living->socket) : Json(nullptr)},
              {"lastLines", last_lines(folder.log("tensorboard"), 20)}};
}

Answer stop(const Fields& params, ServeContext&) { return std::make_unique<StopJob>(folder_of(params)); }

}  // namespace

void add_tensorboard_methods(MethodTable& table) {
  table["tensorboard.start"] = start;
  table["tensorboard.status"] = status;
  table["tensorboard.stop"] = stop;
}

}  // namespace trainyard
