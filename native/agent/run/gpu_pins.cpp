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

std::map<std::string, std::string> pinned_gpu(const std::string& gpus, int local_rank, int local_ranks) {
  if (gpus.empty()) return {};
  std::istringstream list(gpus);
  std::vector<std::string> all;
  for (std::string gpu; std::getline(list, gpu, ',');) all.push_back(gpu);
  const size_t ranks = local_ranks > 0 ? static_cast<size_t>(local_ranks) : all.size();
  const size_t rank = local_rank < 0 ? all.size() : static_cast<size_t>(local_rank);
  if (rank >= all.size() || rank >= ranks) {
    throw Error(Exit::device, "this node gives the run its GPUs " + gpus + ", and none is left for rank " +
                                  std::to_string(local_rank) + " on it. Start fewer ranks here");
  }
  // The first ranks have one more where it does not come out even.
  const size_t each = std::max<size_t>(1, all.size() / ranks), more = all.size() > ranks ? all.size() % ranks : 0;
  const size_t begin = rank * each + std::min(rank, more), end = begin + each + (rank < more ? 1 : 0);
  std::string share;
  for (size_t i = begin; i < end; ++i) share += (share.empty() ? "" : ",") + all[i];
  return {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", share}};
}

}  // namespace trainyard
