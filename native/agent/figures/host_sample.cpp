#include "agent/figures/host_sample.h"

#include <unistd.h>

#include <sstream>

#include "agent/system/clock.h"
#include "common/files.h"
#include "common/process.h"

namespace trainyard {

namespace {
constexpr double kPatienceSeconds = 2;  // a GPU that wakes up takes a good part of one

/// Under this many clock ticks of all cores together a percentage would be mostly rounding.
uint64_t least_ticks() { return 10 * static_cast<uint64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))); }
}  // namespace

HostSampler::HostSampler(std::string disk_path)
    : gpus_{Question::What::gpus, ""}, disk_{Question::What::disk, std::move(disk_path)}, before_(read_ticks()) {}

HostSampler::CpuTicks HostSampler::read_ticks() {
  std::istringstream stat(read_file("/proc/stat"));
  std::string word;
  stat >> word;  // "cpu": all cores
  CpuTicks ticks;
  for (int column = 0; column < 8; ++column) {  // user nice system idle iowait irq softirq steal; guests stand in user
    uint64_t value = 0;
    stat >> value;
    ticks.all += value;
    if (column != 3 && column != 4) ticks.busy += value;
  }
  return ticks;
}

double HostSampler::cpu_percent() {
  CpuTicks now = read_ticks();
  if (now.all - before_.all < least_ticks() && percent_ == 0) {  // asked right after the start
    sleep_ms(110);
    now = read_ticks();
  }
  if (now.all - before_.all >= least_ticks() / 2) {
    percent_ = 100.0 * static_cast<double>(now.busy - before_.busy) / static_cast<double>(now.all - before_.all);
    before_ = now;
  }
  return percent_;
}

HostMemory host_memory() {
  std::istringstream lines(read_file("/proc/meminfo"));
  HostMemory memory;
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with("MemTotal:")) memory.total = std::strtoull(line.c_str() + 9, nullptr, 10) * 1024;
    if (line.starts_with("MemAvailable:")) memory.available = std::strtoull(line.c_str() + 13, nullptr, 10) * 1024;
  }
  return memory;
}

double HostSampler::ask() {
  const double now = monotonic_seconds();
  figures_.ask(gpus_);
  figures_.ask(disk_);
  return now;
}

bool HostSampler::ready(double asked, double first_patience) {
  figures_.take();
  const double now = monotonic_seconds();
  for (const Question& question : {gpus_, disk_}) {
    const Figure& figure = figures_.of(question);
    const bool first = question.what == Question::What::gpus && figure.answered == 0;
    const double patience = first ? first_patience : kPatienceSeconds;
    if (figure.open_since > 0 && figure.answered < asked && now - figure.open_since < patience) return false;
  }
  return true;
}

std::optional<uint64_t> HostSampler::disk_free() {
  const Figure& figure = figures_.of(disk_);
  if (!figure.value || !missing_figure(disk_, figure, kPatienceSeconds).is_null()) return std::nullopt;
  return (*figure.value)["free"].get<uint64_t>();
}

Json HostSampler::sample() {
  const HostMemory memory = host_memory();
  Json line;
  line["time"] = now_seconds();
  line["host"] = host_name();
  line["cpu_percent"] = cpu_percent();
  line["memory_used"] = memory.total - memory.available;
  line["memory_total"] = memory.total;
  const Figure& disk = figures_.of(disk_);
  line["disk_free"] = disk.value ? (*disk.value)["free"] : Json(nullptr);
  line["gpus"] = figures_.of(gpus_).value.value_or(Json::array());
  for (const Question& question : {gpus_, disk_}) {
    Json missing = missing_figure(question, figures_.of(question), kPatienceSeconds);
    if (!missing.is_null()) line["missing"].push_back(std::move(missing));
  }
  return line;
}

}  // namespace trainyard
