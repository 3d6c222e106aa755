#include "agent/run/gpu_pins.h"

#include <algorithm>
#include <sstream>

#include "common/error.h"

namespace trainyard {

std::vector<int> gpus_of(const Json& object, const char* field, int ranks, const std::string& where) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return {};
  const std::string name = where + "." + field;
  if (!found->is_array()) throw FieldError(name + " must be a list of numbers, or null");
  std::vector<int> gpus;
  for (const Json& one : *found) {
    if (!one.is_number_integer() || one.get<int64_t>() < 0 || one.get<int64_t>() > 1023) {
      throw FieldError(name + " may hold numbers from 0 to 1023, not " + to_line(one));
    }
    const auto number = one.get<int>();
    if (std::find(gpus.begin(), gpus.end(), number) != gpus.end()) {
      throw FieldError(name + " names GPU " + std::to_string(number) + " twice");
    }
    gpus.push_back(number);
  }
  if (static_cast<int>(gpus.size()) < ranks) {
    throw FieldError(name + " names " + std::to_string(gpus.size()) + " GPUs for " + std::to_string(ranks) + " ranks");
  }
  return gpus;
}

std::string gpus_text(const std::vector<int>& gpus) {
  std::string text;
  for (const int gpu : gpus) text += (text.empty() ? "" : ",") + std::to_string(gpu);
  return text;
}

std::map<std::string, std::string> pinned_gpu(const std::string& gpus, int local_rank) {
  if (gpus.empty()) return {};
  std::istringstream list(gpus);
  std::string gpu;
  bool found = local_rank >= 0;
  for (int i = 0; found && i <= local_rank; ++i) found = static_cast<bool>(std::getline(list, gpu, ','));
  if (!found) {
    throw Error(Exit::device, "this node gives the run its GPUs " + gpus + ", and none is left for rank " +
                                  std::to_string(local_rank) + " on it. Start fewer ranks here");
  }
  return {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", gpu}};
}

}  // namespace trainyard
