#include "trainer/train/log/metrics_log.h"

#include <chrono>
#include <cstdio>
#include <thread>

#include "common/error.h"
#include "common/process.h"
#include "trainer/train/process/generation.h"

namespace trainyard {
namespace {

constexpr size_t most_kept = size_t{16} << 20;

}  // namespace

MetricsLog::MetricsLog(const std::string& run_dir, const std::string& curves)
    : generation_(generation_from_environment()),
      lines_(run_dir + "/metrics.jsonl", most_kept,
             [this](const LostLines& lost) {
               return text_of("gap", {{"lines", lost.lines}, {"from", lost.from}, {"to", lost.to}});
             }),
      curves_folder_(run_dir + "/" + curves) {}

template <typename Write>
void MetricsLog::attempt(const Write& write) {
  try {
    write();
    curves_failed_ = false;
  } catch (const Error& error) {
    if (!curves_failed_) std::fprintf(stderr, "trainer: warning: TensorBoard's curves wait: %s\n", error.what());
    curves_failed_ = true;
  }
}

std::string MetricsLog::text_of(const std::string& kind, const nlohmann::json& fields) const {
  nlohmann::ordered_json object = {{"kind", kind}, {"time", now_seconds()}, {"generation", generation_}};
  for (const auto& [name, value] : fields.items()) object[name] = value;
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void MetricsLog::line(const std::string& kind, const nlohmann::json& fields) {
  const std::lock_guard lock(mutex_);
  lines_.append(text_of(kind, fields), now_seconds(), kind == "start" || kind == "end");
  write_lines();
}

bool MetricsLog::write_lines() {
  const int64_t lost = lines_.lost();
  const size_t waiting = lines_.waiting();
  if (!lines_.flush()) {
    if (!delayed_) {
      std::fprintf(stderr,
                   "trainer: warning: metrics are not being recorded: %s. Training goes on; up to 16 MiB of lines are "
                   "kept and written later\n",
                   lines_.error().c_str());
    }
    delayed_ = true;
    return false;
  }
  if (delayed_) {
    std::fprintf(stderr, "trainer: note: metrics are recorded again; %zu lines had waited, %lld were lost\n", waiting,
                 static_cast<long long>(lost));
  }
  delayed_ = false;
  return true;
}

void MetricsLog::finish(double patience, const std::function<void()>& alive) {
  flush();
  const double deadline = now_seconds() + patience;
  const auto written = [this] {
    const std::lock_guard lock(mutex_);
    return write_lines();
  };
  while (!written() && now_seconds() < deadline) {
    alive();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  flush();
  const std::lock_guard lock(mutex_);
  if (lines_.waiting() == 0) return;
  std::fprintf(stderr, "trainer: warning: the last %zu lines of metrics are not recorded: %s\n", lines_.waiting(),
               lines_.error().c_str());
}

EventWriter& MetricsLog::curves() {
  if (!curves_) curves_.emplace(curves_folder_);
  return *curves_;
}

void MetricsLog::scalar(const std::string& tag, int64_t step, double value) {
  const std::lock_guard lock(mutex_);
  attempt([&] { curves().scalar(tag, step, now_seconds(), static_cast<float>(value)); });
}

void MetricsLog::graph(const Network& network) {
  std::vector<EventGraphNode> nodes;
  for (const GraphNode& node : network.graph()) nodes.push_back({node.name, node.op, node.inputs, node.output_shape});
  const std::lock_guard lock(mutex_);
  attempt([&] { curves().graph(nodes); });
}

void MetricsLog::flush() {
  const std::lock_guard lock(mutex_);
  attempt([&] { curves().flush(); });
  if (lines_.waiting() > 0) write_lines();
}

}  // namespace trainyard
