#include "agent/rpc/node_sweep.h"

#include "agent/join/join.h"
#include "agent/messages/rpc_error.h"
#include "agent/system/paths.h"

namespace trainyard {

namespace {

constexpr double kKillSeconds = 15;

}  // namespace

RunOnNode run_on_node(const Fields& params) {
  const std::string id = params.string("id"), host = params.string("host");
  if (!is_run_id(id) || !is_run_id(host)) throw FieldError("params.id and params.host must be plain names");
  return {RunFolder(expand_path(params.string("workdir")) + "/runs/" + id), host};
}

bool NodeSweep::step() {
  if (sweep_.step()) return true;
  if (monotonic_seconds() - begun_ < kKillSeconds) return false;
  throw RpcError(RpcCode::bad_state, "processes of the run in " + run_.folder.dir() + " cannot be ended here: " +
                                         std::to_string(sweep_.left().size()) + " are left. Look for them with: ps");
}

std::vector<NamedProcess> NodeSweep::find() const {
  std::vector<NamedProcess> all = find_marked(run_.folder.dir(), {});
  const auto record = read_join_record(run_.folder, run_.host);
  if (record && record->lives) all.push_back({record->process, "join"});
  return all;
}

}  // namespace trainyard
