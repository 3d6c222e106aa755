// What is said when memory does not suffice.
#include <cmath>

#include "common/error.h"
#include "proof/parts.h"
#include "proof/report.h"
#include "proof/training.h"

namespace trainyard::proof {

bool out_of_memory(const std::string& device) {
  if (device == "cpu") {
    figure("out of memory", "not rehearsed: it is the device's message");
    return true;
  }
  try {
    open(device)->allocate(size_t{1} << 44U);
  } catch (const Error& error) {
    figure("message", error.what());
    const std::string text = error.what();
    return text.find("16777216 MiB asked for") != std::string::npos && text.find("free of") != std::string::npos;
  }
  return false;
}

namespace {

/// The batch that the refusal of this one names; 0: none, its own: it is not refused.
int named_batch(const Setup& setup, const std::string& device) {
  try {
    const Training training(setup, open(device));
    return setup.batch;
  } catch (const Error& error) {
    figure("message", error.what());
    const std::string text = error.what();
    const std::string before = "Use --batch-size ";
    const size_t found = text.find(before);
    return found == std::string::npos ? 0 : std::stoi(text.substr(found + before.size()));
  }
}

}  // namespace

bool batch_that_fits(const std::string& device) {
  if (device == "cpu") {
    figure("batch that fits", "not rehearsed: it is the device's memory");
    return true;
  }
  // Most GPUs have too little memory for the first batch, whose tensors are small enough. Of the
  // second one the largest tensor has 6.6e9 elements, and kernels count to 2^31.
  for (const int batch : {2048, 8192}) {
    Setup setup{.model = "resnet50", .size = 224, .batch = batch};
    setup.batch = named_batch(setup, device);
    if (setup.batch == 0) return false;
    if (setup.batch == batch) figure("message", "a batch of " + std::to_string(batch) + " fits this GPU");
    Training fits(setup, open(device));
    fits.gradients();
  }
  return true;
}

bool memory_growth(const std::string& device) {
  Setup setup{.model = "resnet20"};
  if (device == "cuda") setup = {.model = "resnet50", .size = 224, .batch = 64};
  const auto used = [](Training& training) { return static_cast<double>(training.network().device_memory()->used); };
  const auto told = [](double bytes) { return std::to_string(static_cast<int64_t>(bytes) >> 10U) + " KiB"; };
  double loss = 0;
  double whole = 0;
  {
    Training at_once(setup, open(device));
    loss = at_once.gradients();
    whole = used(at_once);
  }
  setup.memory_growth = true;
  Training growing(setup, open(device));
  const double before = used(growing);
  const auto to_come = static_cast<double>(growing.network().memory_to_come());
  const double same = growing.gradients();
  figure("before the first step", told(before) + ", and " + told(to_come) + " to come of " + told(whole));
  bool all = report("memory growth", "memory after a step beside that taken at once", used(growing) / whole - 1, 0);
  all = report("memory growth", "memory before it, of the whole", before / whole, 0.9) && all;
  return report("memory growth", "loss", std::abs(same - loss), 0) && all;
}

}  // namespace trainyard::proof
