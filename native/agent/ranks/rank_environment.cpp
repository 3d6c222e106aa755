#include "agent/ranks/rank_environment.h"

#include "agent/run/gpu_pins.h"
#include "agent/system/kill.h"

namespace trainyard {

Environment rank_environment(const RunFolder& folder, int generation, int threads,
                             const std::map<std::string, std::string>& given, const std::vector<int>& gpus) {
  Environment env = clean_environment();
  env["MPIR_CVAR_POLLS_BEFORE_YIELD"] = "1";
  env["MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM"] = "mpir";
  env["OMP_NUM_THREADS"] = std::to_string(threads);
  for (const auto& [name, value] : given) env[name] = value;
  env[kRunVariable] = folder.dir();
  if (!gpus.empty() && !given.contains("CUDA_VISIBLE_DEVICES")) env[kGpusVariable] = gpus_text(gpus);
  env["TRAINYARD_GENERATION"] = std::to_string(generation);
  env["TRAINYARD_HEARTBEAT_DIR"] = folder.heartbeats();
  return env;
}

}  // namespace trainyard
