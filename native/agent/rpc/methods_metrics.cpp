// RPC: metrics.read.
#include "agent/metrics/merged_metrics.h"
#include "agent/rpc/rpc.h"
#include "agent/run/folder/run_folder.h"
#include "agent/system/paths.h"

namespace trainyard {

namespace {

constexpr int64_t kMostRows = 8192;
constexpr int64_t kEnd = int64_t{1} << 53;  // what a number in JSON holds

class ReadJob : public Job {
 public:
  ReadJob(const RunFolder& folder, int64_t rows, bool only_curves, int64_t end)
      : merger_(folder.metrics(), rows, only_curves, end) {}
  std::optional<Json> step() override {
    if (merger_.advance()) return merger_.take();
    return std::nullopt;
  }
  bool computes() const override { return true; }

 private:
  MetricsMerger merger_;
};

Answer read_metrics(const Fields& params, ServeContext&) {
  const RunFolder folder = existing_run_folder(expand_path(params.string("dir")));
  return std::make_unique<ReadJob>(folder, params.integer("rows", 1, kMostRows), params.boolean_or("onlyCurves", false),
                                   params.integer_or("end", kEnd, 0, kEnd));
}

}  // namespace

void add_metric_methods(MethodTable& table) { table["metrics.read"] = read_metrics; }

}  // namespace trainyard
