#include "agent/rpc/rpc.h"

#include <algorithm>
#include <utility>

#include "agent/messages/rpc_error.h"
#include "common/error.h"

namespace trainyard {

Dispatcher::Dispatcher(FrameWriter& writer, ServeContext context) : writer_(writer), context_(context) {
  add_host_methods(table_);
  add_gpu_methods(table_);
  add_run_methods(table_);
  add_node_methods(table_);
  add_mirror_methods(table_);
  add_delete_methods(table_);
  add_file_methods(table_);
  add_metric_methods(table_);
  add_tensorboard_methods(table_);
}

void Dispatcher::handle(const LineReader::Line& line) {
  if (line.too_long) {
    return send_error(nullptr, static_cast<int>(RpcCode::invalid_request),
                      "a line over 8 MiB was thrown away. Send less at once");
  }
  if (line.text.find_first_not_of(" \t\r") == std::string::npos) return;
  Json request;
  try {
    request = parse_json(line.text);
  } catch (const FieldError& error) {
    return send_error(nullptr, static_cast<int>(RpcCode::parse_error), error.what());
  }
  const auto invalid = [this](const Json& id, const char* what) {
    send_error(id, static_cast<int>(RpcCode::invalid_request), what);
  };
  if (!request.is_object()) return invalid(nullptr, "a request must be one JSON object a line");
  const auto id = request.find("id");
  const bool wants_answer = id != request.end();
  if (wants_answer && !id->is_string() && !id->is_number() && !id->is_null()) {
    return invalid(nullptr, "id must be a string, a number or null");
  }
  const Json answer_to = wants_answer ? *id : Json(nullptr);
  const auto version = request.find("jsonrpc");
  if (version == request.end() || *version != "2.0") return invalid(answer_to, "jsonrpc must be \"2.0\"");
  const auto method = request.find("method");
  if (method == request.end() || !method->is_string()) return invalid(answer_to, "method must be a string");
  call(answer_to, wants_answer, request);
}

void Dispatcher::call(const Json& id, bool wants_answer, const Json& request) {
  static const Json kNone = Json::object();
  try {
    const std::string name = request["method"].get<std::string>();
    const auto method = table_.find(name);
    if (method == table_.end()) throw RpcError(RpcCode::no_such_method, "no method '" + name + "'");
    const auto params = request.find("params");
    const bool given = params != request.end() && !params->is_null();
    Answer answer = method->second(Fields(given ? *params : kNone, "params"), context_);
    if (auto* job = std::get_if<std::unique_ptr<Job>>(&answer)) {
      jobs_.push_back({id, wants_answer, std::move(*job)});
    } else if (wants_answer) {
      send_result(id, std::get<Json>(std::move(answer)));
    }
  } catch (...) {
    if (wants_answer) send_current_error(id);
  }
}

void Dispatcher::work() {
  for (Running& running : jobs_) {
    try {
      std::optional<Json> result = running.job->step();
      if (!result) continue;
      if (running.wants_answer) send_result(running.id, *std::move(result));
    } catch (...) {
      if (running.wants_answer) send_current_error(running.id);
    }
    running.job.reset();
  }
  std::erase_if(jobs_, [](const Running& running) { return running.job == nullptr; });
}

bool Dispatcher::computing() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [](const Running& running) { return running.job->computes(); });
}

void Dispatcher::send_result(const Json& id, Json result) {
  Json answer{{"jsonrpc", "2.0"}, {"id", id}};
  answer["result"] = std::move(result);  // it may be large
  const std::string line = to_line(answer);
  if (line.size() >= kLongestFrame) {
    return send_error(id, static_cast<int>(RpcCode::refused), "the answer is over 8 MiB. Ask for less at once");
  }
  writer_.send(line);
}

void Dispatcher::send_error(const Json& id, int code, const std::string& message) {
  writer_.send(to_line({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}}));
}

void Dispatcher::send_current_error(const Json& id) {
  try {
    throw;
  } catch (const RpcError& error) {
    send_error(id, static_cast<int>(error.code()), error.what());
  } catch (const FieldError& error) {
    send_error(id, static_cast<int>(RpcCode::invalid_params), error.what());
  } catch (const Error& error) {
    send_error(id, static_cast<int>(RpcCode::input_output), error.what());
  } catch (const std::exception& error) {
    send_error(id, static_cast<int>(RpcCode::internal), std::string("the agent failed: ") + error.what());
  }
}

}  // namespace trainyard
