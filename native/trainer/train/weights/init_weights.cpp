#include "trainer/train/weights/init_weights.h"

#include <algorithm>
#include <set>
#include <span>

#include "common/error.h"
#include "trainer/checkpoint/checkpoint.h"

namespace trainyard {
namespace {

std::string text_of(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

/// A few names, and how many more.
std::string few(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kShown ? text + " and " + std::to_string(names.size() - kShown) + " more" : text;
}

/// Compares a file with a network before anything is taken.
class Fit {
 public:
  Fit(const LoadedTensors& file, const Network& network) : file_(file), parameters_(network.parameters()) {
    for (const TensorInfo& info : parameters_) compare(info);
    for (const TensorInfo& info : network.statistics()) compare(info);
    for (const LoadedTensors::Entry& entry : file.entries()) {
      if (!known_.contains(entry.name) && !entry.name.ends_with(".num_batches_tracked")) extra_.push_back(entry.name);
    }
    // Heads are new as a whole, an auxiliary one with the last layer.
    for (const TensorInfo& info : parameters_) {
      if (other_classes_ && info.head) new_.push_back(info.name);
    }
  }

  const std::vector<std::string>& made_new() const { return new_; }

  void require(const std::string& path) const {
    std::string faults;
    const auto add = [&](const char* what, const std::vector<std::string>& names) {
      if (!names.empty()) faults += (faults.empty() ? "" : "; ") + (what + few(names));
    };
    add("it lacks ", missing_);
    add("of another shape: ", shapes_);
    add("the model has no ", extra_);
    if (faults.empty()) return;
    throw Error(Exit::data, "--init-weights " + path + " does not fit the model: " + faults +
                                ". Give a file of the same --model, whose last layer alone may differ");
  }

 private:
  void compare(const TensorInfo& info) {
    known_.insert(info.name);
    const LoadedTensors::Entry* entry = file_.find(info.name);
    if (entry == nullptr) {
      missing_.push_back(info.name);
    } else if (entry->shape != info.shape) {
      const bool alike = entry->shape.size() == info.shape.size() && !info.shape.empty() &&
                         std::equal(info.shape.begin() + 1, info.shape.end(), entry->shape.begin() + 1);
      if (info.head && alike) {
        other_classes_ = true;
      } else {
        shapes_.push_back(info.name + " (" + text_of(entry->shape) + ", not " + text_of(info.shape) + ")");
      }
    }
  }

  const LoadedTensors& file_;
  const std::vector<TensorInfo>& parameters_;
  bool other_classes_ = false;
  std::set<std::string> known_;
  std::vector<std::string> missing_, shapes_, extra_, new_;
};

}  // namespace

std::vector<std::string> init_weights(const std::string& path, Network& network) {
  const LoadedTensors file = LoadedTensors::read(path);
  const Fit fit(file, network);
  fit.require(path);
  const auto take = [&](const std::vector<TensorInfo>& infos, std::span<float> arena) {
    for (const TensorInfo& info : infos) {
      if (std::find(fit.made_new().begin(), fit.made_new().end(), info.name) != fit.made_new().end()) continue;
      file.copy(info.name, info.shape, arena.subspan(info.offset, info.size));
    }
  };
  take(network.parameters(), network.weights());
  take(network.statistics(), network.running_statistics());
  network.weights_changed();
  return fit.made_new();
}

}  // namespace trainyard
