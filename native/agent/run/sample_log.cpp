#include "agent/run/sample_log.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "agent/figures/gpu_process.h"
#include "agent/system/clock.h"
#include "common/error.h"
#include "common/files.h"
#include "common/process.h"

namespace trainyard {

namespace {

constexpr double kSamplePeriod = 1.0;
constexpr double kThinningPeriod = 1800.0;
constexpr double kHour = 3600.0;

double period_at_age(double age) {
  if (age <= kHour) return 0;
  return age <= 24 * kHour ? 10.0 : 60.0;
}

double time_of(const std::string& line) {
  static const std::string kField = "\"time\":";
  const size_t at = line.find(kField);
  return at == std::string::npos ? 0 : std::strtod(line.c_str() + at + kField.size(), nullptr);
}

}  // namespace

void thin_samples(const std::string& path, double now) {
  std::istringstream in(read_file(path));
  std::string line, kept;
  double last_kept = 0;
  while (std::getline(in, line)) {
    const double time = time_of(line);
    if (time <= 0 || (time >= last_kept && time - last_kept < period_at_age(now - time))) continue;
    last_kept = time;
    kept += line + '\n';
  }
  replace_file(path, kept);
}

SampleFile::SampleFile(const RunFolder& folder, const std::string& host)
    : path_(folder.file("gpus/" + host + ".jsonl")), next_thinning_(monotonic_seconds() + kThinningPeriod) {}

void SampleFile::append(const std::string& line) {
  LineFile(path_).append(line);  // opened anew: thinning replaces the file
  const double now = monotonic_seconds();
  if (now < next_thinning_) return;
  next_thinning_ = now + kThinningPeriod;
  thin_samples(path_, now_seconds());
}

SampleLog::SampleLog(const RunFolder& folder) : file_(folder, host_name()), sampler_(folder.dir()) {}

std::optional<std::string> SampleLog::tick() {
  const double now = monotonic_seconds();
  if (!asked_ && now < next_sample_) return std::nullopt;
  try {
    if (!asked_) {
      next_sample_ = now + kSamplePeriod;
      asked_ = sampler_.ask();
    }
    if (!sampler_.ready(*asked_)) return std::nullopt;
    asked_.reset();
    const Json sample = without_commands(sampler_.sample());
    warn(sample);
    std::string line = to_line(sample);
    file_.append(line);
    failed_ = false;
    return line;
  } catch (const std::exception& error) {
    asked_.reset();
    if (!failed_) std::fprintf(stderr, "agent: warning: no figures of this host: %s\n", error.what());
    failed_ = true;
    return std::nullopt;
  }
}

void SampleLog::warn(const Json& sample) {
  std::set<std::string> missing;
  for (const Json& one : sample.value("missing", Json::array())) {
    const std::string what = one["what"] == "gpus" ? "the GPU driver" : "the file system of " + one.value("path", "");
    const std::string text = what + ": " + one.value("reason", "");
    missing.insert(text);
    if (warned_.contains(text)) continue;
    std::fprintf(stderr, "agent: warning: host %s: %s. Its figures are those of before; the run goes on\n",
                 host_name().c_str(), text.c_str());
  }
  for (const std::string& text : warned_) {
    if (missing.contains(text)) continue;
    std::fprintf(stderr, "agent: note: host %s: answered again (%s)\n", host_name().c_str(), text.c_str());
  }
  warned_ = std::move(missing);
}

}  // namespace trainyard
