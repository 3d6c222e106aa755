// RPC: gpus.take, gpus.give_back, gpus.queue, gpus.leave.
#include "agent/messages/hmac.h"
#include "agent/messages/rpc_error.h"
#include "agent/rpc/gpu_reservations.h"
#include "agent/rpc/rpc.h"

namespace trainyard {

namespace {

constexpr size_t kNameBytes = 16;
constexpr int64_t kHighestNumber = int64_t{1} << 53;

Answer take(const Fields& params, ServeContext& context) {
  const Json* gpus = params.find("gpus");
  const GpuHolder holder{params.optional_string("run").value_or(""), params.optional_string("dir").value_or("")};
  GpuLocks locks(gpu_names(gpus == nullptr ? Json(nullptr) : *gpus, "params.gpus"), holder);
  return Json{{"locks", context.gpus.keep(std::move(locks))}};
}

Answer give_back(const Fields& params, ServeContext& context) {
  context.gpus.give_back(params.string("locks"));
  return Json::object();
}

Answer queue(const Fields& params, ServeContext& context) {
  const GpuTicket ticket = gpu_ticket(params);
  std::optional<int64_t> number;
  if (params.find("number") != nullptr) number = params.integer("number", 1, kHighestNumber);
  return Json{{"number", context.queue.enter(ticket, number)}};
}

Answer leave(const Fields& params, ServeContext& context) {
  context.queue.leave(params.string("ticket"));
  return Json::object();
}

}  // namespace

std::string GpuReservations::keep(GpuLocks locks) {
  std::string name = random_hex(kNameBytes);
  kept_.emplace(name, std::move(locks));
  return name;
}

GpuLocks GpuReservations::pass_on(const std::string& name) {
  if (name.empty()) return {};
  const auto found = kept_.find(name);
  if (found == kept_.end()) {
    throw RpcError(RpcCode::bad_state, "the GPUs that were taken for this run are given back already. Start it again");
  }
  GpuLocks locks = std::move(found->second);
  kept_.erase(found);
  return locks;
}

void add_gpu_methods(MethodTable& table) {
  table["gpus.take"] = take;
  table["gpus.give_back"] = give_back;
  table["gpus.queue"] = queue;
  table["gpus.leave"] = leave;
}

}  // namespace trainyard
