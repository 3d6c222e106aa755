#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/error.h"
#include "trainer/base/parallel.h"
#include "trainer/cli/flags/numbers.h"
#include "trainer/cli/verbs.h"
#include "trainer/ops/cuda_library.h"
#include "trainer/ops/selftest/selftest.h"
#include "trainer/train/process/use_threads.h"

namespace trainyard {
namespace {

struct SelftestOptions {
  std::string device = "cuda";
  int index = 0;
  bool json = false;
};

void print(const std::vector<SelftestRow>& rows, bool json) {
  if (!json) std::printf("| op | quantity | error | bound | |\n|---|---|---|---|---|\n");
  for (const SelftestRow& row : rows) {
    if (json) {
      const nlohmann::ordered_json line = {
          {"op", row.op}, {"quantity", row.quantity}, {"error", row.error}, {"bound", row.bound}, {"ok", row.ok()}};
      std::printf("%s\n", line.dump().c_str());
    } else {
      std::printf("| %s | %s | %.1e | %.0e | %s |\n", row.op.c_str(), row.quantity.c_str(), row.error, row.bound,
                  row.ok() ? "ok" : "**wrong**");
    }
  }
}

/// Nothing where there is no NCCL, which one GPU does not need.
std::vector<SelftestRow> collectives(CudaLibrary& library, Backend& backend) {
  try {
    load_nccl(library);
  } catch (const Error& error) {
    std::fprintf(stderr, "trainer: note: collectives are left out: %s\n", error.what());
    return {};
  }
  return selftest_collectives(backend);
}

Exit run(const SelftestOptions& options) {
  use_threads(threads());  // of the CPU's side
  const auto library = load_cuda_library();
  require_cuda_device(*library, options.index);
  const auto backend = library->open(options.index, nullptr);
  if (!options.json) std::printf("%s (%s) against the CPU\n\n", backend->name().c_str(), library->versions().c_str());
  std::vector<SelftestRow> rows = selftest(*backend, *make_cpu_backend());
  for (SelftestRow& row : collectives(*library, *backend)) rows.push_back(std::move(row));
  print(rows, options.json);
  const auto wrong = std::count_if(rows.begin(), rows.end(), [](const SelftestRow& row) { return !row.ok(); });
  if (wrong == 0) return Exit::ok;
  throw Error(Exit::device, std::to_string(wrong) + " of " + std::to_string(rows.size()) +
                                " results of this device are wrong. Do not train on it; report the table");
}

}  // namespace

Verb add_selftest(CLI::App& app) {
  CLI::App* command = app.add_subcommand("selftest", "every op of a device against the CPU's, as a table");
  auto o = std::make_shared<SelftestOptions>();
  command->add_option("--device", o->device, "cuda")->check(CLI::IsMember({"cuda"}))->capture_default_str();
  command->add_option("--index", o->index, "which GPU, as CUDA counts")
      ->transform(whole_number(0, 1023))
      ->capture_default_str();
  command->add_flag("--json", o->json, "one JSON object a result");
  return {command, [o] { return run(*o); }};
}

}  // namespace trainyard
