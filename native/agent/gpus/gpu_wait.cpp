#include "agent/gpus/gpu_wait.h"

#include <algorithm>

#include "agent/system/clock.h"

namespace trainyard {

namespace {

constexpr double kLookSeconds = 2;
constexpr size_t kMostNames = 2;  // that a text has

/// "process 4242 of bob".
std::string process_words(const Json& process) {
  const Json user = process.value("user", Json(nullptr));
  return "process " + std::to_string(process.value("pid", 0)) +
         (user.is_string() ? " of " + user.get<std::string>() : "");
}

std::string gpus_words(size_t wanted, const std::vector<int>& of) {
  if (wanted < of.size()) return wanted == 1 ? "a GPU" : std::to_string(wanted) + " GPUs";
  std::string text = of.size() == 1 ? "GPU" : "GPUs";
  for (size_t at = 0; at < of.size(); ++at) text += (at == 0 ? " " : ", ") + std::to_string(of[at]);
  return text;
}

/// Who is on these GPUs, each once.
std::string holders_text(const Json& gpus, const std::vector<int>& of) {
  std::vector<std::string> holders;
  for (const Json& gpu : gpus) {
    const int index = gpu.value("index", -1);
    if (std::ranges::find(of, index) == of.end()) continue;
    const Json holder = holder_of({index, gpu.value("uuid", "")});
    const Json processes = gpu.value("processes", Json::array());
    if (holder.is_null() && processes.empty()) continue;
    const std::string text = holder.is_null() ? process_words(processes.front()) : holder_words(holder);
    if (std::ranges::find(holders, text) == holders.end()) holders.push_back(text);
  }
  std::string text;
  for (size_t at = 0; at < std::min(holders.size(), kMostNames); ++at)
    text += (at == 0 ? "; held by " : ", ") + holders[at];
  return holders.size() > kMostNames ? text + " and " + std::to_string(holders.size() - kMostNames) + " more" : text;
}

/// "; GPU 1 does not work", of those that count and cannot be taken by anybody.
std::string broken_text(const Json& gpus, const std::vector<int>& of) {
  std::string text;
  for (const int index : of) {
    const auto found = std::ranges::find_if(gpus, [index](const Json& gpu) { return gpu.value("index", -1) == index; });
    if (found == gpus.end()) {
      text += "; GPU " + std::to_string(index) + " is not there";
    } else if (!found->value("problem", Json(nullptr)).is_null()) {
      text += "; GPU " + std::to_string(index) + " does not work";
    }
  }
  return text;
}

}  // namespace

GpuWait::GpuWait(const GpuTicket& ticket, GpuHolder holder, const std::string& host, std::optional<int64_t> number)
    : wanted_(gpus_words(static_cast<size_t>(ticket.count), ticket.gpus) + (host.empty() ? "" : " on " + host)),
      of_(ticket.gpus),
      holder_(std::move(holder)),
      turn_(ticket, number),
      sampler_(holder_.dir) {}

std::optional<GpuLocks> GpuWait::look() {
  if (!asked_) {
    if (monotonic_seconds() < next_look_) return std::nullopt;
    asked_ = sampler_.ask();
  }
  if (!sampler_.ready(*asked_)) return std::nullopt;
  asked_.reset();
  next_look_ = monotonic_seconds() + kLookSeconds;
  const Json sample = sampler_.sample();
  const Json gpus = sample.value("gpus", Json::array());
  std::vector<GpuName> usable;
  for (const Json& gpu : gpus) {
    const bool works = gpu.value("problem", Json(nullptr)).is_null();
    if (works && gpu.value("processes", Json::array()).empty())
      usable.push_back({gpu.value("index", -1), gpu.value("uuid", "")});
  }
  std::optional<GpuLocks> locks = turn_.look(usable, holder_);
  text_ = "waiting for " + wanted_ + ": " + turn_.place() + holders_text(gpus, of_) + broken_text(gpus, of_);
  return locks;
}

}  // namespace trainyard
