// What is said when memory does not suffice.
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

bool batch_that_fits(const std::string& device) {
  if (device == "cpu") {
    figure("batch that fits", "not rehearsed: it is the device's memory");
    return true;
  }
  Setup setup{.model = "resnet50", .size = 224, .batch = 1 << 13U};
  try {
    const Training large(setup, open(device));
  } catch (const Error& error) {
    figure("message", error.what());
    const std::string text = error.what();
    const std::string before = "Use --batch-size ";
    const size_t found = text.find(before);
    if (found == std::string::npos) return false;
    setup.batch = std::stoi(text.substr(found + before.size()));
    Training fits(setup, open(device));
    fits.gradients();
    return true;
  }
  figure("message", "a batch of 8192 fits this GPU");
  return true;
}

}  // namespace trainyard::proof
