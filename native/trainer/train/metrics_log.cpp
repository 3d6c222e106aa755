#include "trainer/train/metrics_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "common/error.h"
#include "common/files.h"
#include "common/process.h"

namespace trainyard {
namespace {

/// Whether the file ends in the middle of a line: what a write that failed half-way leaves.
bool ends_inside_a_line(int fd) {
  const off_t size = ::lseek(fd, 0, SEEK_END);
  char last = '\n';
  return size > 0 && ::pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

int generation_from_environment() {
  const char* text = std::getenv("TRAINYARD_GENERATION");
  const long generation = text != nullptr ? std::strtol(text, nullptr, 10) : 1;
  return generation > 0 ? static_cast<int>(generation) : 1;
}

MetricsLog::MetricsLog(const std::string& run_dir, const std::string& curves)
    : path_(run_dir + "/metrics.jsonl"), generation_(generation_from_environment()), events_(run_dir + "/" + curves) {}

template <typename Write>
void MetricsLog::attempt(const Write& write) {
  try {
    write();
    failed_ = false;
  } catch (const Error& error) {
    if (!failed_) std::fprintf(stderr, "trainer: warning: metrics are not being recorded: %s\n", error.what());
    failed_ = true;
  }
}

void MetricsLog::line(const std::string& kind, const nlohmann::json& fields) {
  nlohmann::ordered_json object = {{"kind", kind}, {"time", now_seconds()}, {"generation", generation_}};
  for (const auto& [name, value] : fields.items()) object[name] = value;
  attempt([&] {
    const Descriptor fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!fd) throw file_error("open", path_);
    const std::string text = object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    write_all(fd.get(), ends_inside_a_line(fd.get()) ? "\n" + text : text, path_);
  });
}

void MetricsLog::scalar(const std::string& tag, int64_t step, double value) {
  attempt([&] { events_.scalar(tag, step, now_seconds(), static_cast<float>(value)); });
}

void MetricsLog::graph(const Network& network) {
  std::vector<EventGraphNode> nodes;
  for (const GraphNode& node : network.graph()) nodes.push_back({node.name, node.op, node.inputs, node.output_shape});
  attempt([&] { events_.graph(nodes); });
}

void MetricsLog::flush() {
  attempt([&] { events_.flush(); });
}

}  // namespace trainyard
