#include "trainer/ops/plans/timed_plans.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include "common/error.h"
#include "common/stopwatch.h"

namespace trainyard {
namespace {

/// What a later candidate must take at most, of the time of the best before it: less is noise.
constexpr double kFaster = 0.98;
constexpr size_t kFew = 4;    ///< candidates of `fast`
constexpr size_t kMany = 32;  ///< and of `full`, which is more than cuDNN suggests

/// "" where no folder is known.
std::string cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  // Relative paths in it are no paths (XDG base directory specification).
  const std::string given = variable("XDG_CACHE_HOME");
  if (given.starts_with('/')) return given + "/trainyard/plans";
  const std::string home = variable("HOME");
  return home.starts_with('/') ? home + "/.cache/trainyard/plans" : "";
}

}  // namespace

TimedPlans::TimedPlans(std::string name, size_t most, std::string folder, PlanFile::Say say)
    : name_(std::move(name)), most_(most), folder_(std::move(folder)), say_(std::move(say)) {}

std::string TimedPlans::chosen(const PlanQuestion& question) {
  const std::string work = work_of(question);
  std::string found = file_of(question).find(work);
  if (!found.empty() && !timed_.contains(work)) remembered_.insert(work);
  return found;
}

size_t TimedPlans::choose(const PlanQuestion& question, const std::vector<std::string>& candidates,
                          const PlanTimer& milliseconds) {
  PlanFile& file = file_of(question);
  const std::string work = work_of(question);
  const PlanFile::Turn turn = file.take_turn();
  file.read();
  // Another rank may have measured it while this one waited.
  const auto before = std::ranges::find(candidates, file.find(work));
  if (before == candidates.end()) return fastest(file, work, candidates, milliseconds);
  remembered_.insert(work);
  return static_cast<size_t>(before - candidates.begin());
}

size_t TimedPlans::fastest(PlanFile& file, const std::string& work, const std::vector<std::string>& candidates,
                           const PlanTimer& milliseconds) {
  const Stopwatch clock;
  size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < std::min(candidates.size(), most_); ++i) {
    const std::optional<double> took = milliseconds(i);
    if (!took || !std::isfinite(*took) || *took < 0) continue;
    if (*took >= (std::isinf(least) ? least : kFaster * least)) continue;
    best = i;
    least = *took;
  }
  seconds_ += clock.milliseconds() / 1000;
  if (std::isinf(least)) {
    not_timed_.insert(work);
    return 0;
  }
  timed_.insert(work);
  remembered_.erase(work);
  file.add(work, candidates[best], least);
  return best;
}

PlanFile& TimedPlans::file_of(const PlanQuestion& question) {
  std::unique_ptr<PlanFile>& file = files_[question.device + "\t" + question.library];
  if (!file) {
    file = std::make_unique<PlanFile>(folder_, question.device, question.library, say_);
    file->read();
  }
  return *file;
}

std::string TimedPlans::summary() const {
  std::array<char, 32> took{};
  std::snprintf(took.data(), took.size(), "%.1f s", seconds_);
  std::string text =
      std::to_string(timed_.size()) +
      " choices of a convolution's kernel (cuDNN's plan of a pass, or our kernel in its place) were made "
      "by time in " +
      took.data() + ", " + std::to_string(remembered_.size()) + " as they were made before";
  if (!not_timed_.empty()) {
    text += ", " + std::to_string(not_timed_.size()) +
            " by cuDNN alone, since nothing could be measured (too little memory?)";
  }
  for (const auto& [key, file] : files_) {
    text += " (" + (file->path().empty() ? "kept nowhere: HOME is not set" : file->path()) + ")";
  }
  return text;
}

std::vector<std::string> tune_names() { return {"none", "fast", "full"}; }

std::string tune_on(const std::string& tune, const std::string& device) {
  if (!tune.empty()) return tune;
  return device == "cuda" ? "fast" : "none";
}

void check_tune(const std::string& tune, const std::string& device) {
  if (tune_on(tune, device) == "none" || device == "cuda") return;
  throw Error(Exit::usage, "--tune is about the kernels of a GPU, and --device " + device +
                               " has none. Leave it out, or use --device cuda");
}

std::unique_ptr<TimedPlans> make_timed_plans(const std::string& tune) {
  if (tune == "none") return nullptr;
  if (tune != "fast" && tune != "full") {
    throw Error(Exit::usage, "--tune " + tune + " is not known. Use none, fast or full");
  }
  return std::make_unique<TimedPlans>(tune, tune == "fast" ? kFew : kMany, cache_folder(), [](const std::string& line) {
    std::fprintf(stderr, "trainer: warning: convolutions' kernels are measured again at the next start: %s\n",
                 line.c_str());
  });
}

}  // namespace trainyard
