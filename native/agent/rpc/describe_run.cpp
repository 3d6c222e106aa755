#include "agent/rpc/describe_run.h"

#include <filesystem>

#include "agent/run/folder/run_about.h"
#include "agent/run/lease.h"

namespace trainyard {

Json describe_run(const RunFolder& folder) {
  const auto run = read_json_object(folder.run());
  const auto state = read_json_object(folder.state());
  const bool has_id = run && run->contains("id") && (*run)["id"].is_string();
  Json json;
  json["id"] = has_id ? (*run)["id"] : Json(std::filesystem::path(folder.dir()).filename().string());
  json["dir"] = folder.dir();
  json["run"] = run ? *run : Json(nullptr);
  json["state"] = state ? *state : Json(nullptr);
  json["about"] = read_about(folder);
  const Supervision now = supervision(folder, state, disk_of(folder.dir()));
  json["interrupted"] = now.kind == Supervision::Kind::nobody;
  json["elsewhere"] = now.kind == Supervision::Kind::elsewhere ? Json(now.host) : Json(nullptr);
  return json;
}

}  // namespace trainyard
