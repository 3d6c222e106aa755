// The device by itself: what it is, and every op of it.
#include "common/error.h"
#include "proof/parts.h"
#include "proof/report.h"
#include "proof/training.h"
#include "trainer/ops/cuda_library.h"
#include "trainer/ops/selftest/selftest.h"

namespace trainyard::proof {

bool devices(const std::string& device) {
  if (device == "cpu") {
    figure("device", reference()->name());
    return true;
  }
  const auto library = load_cuda_library();
  figure("libraries", library->versions());
  figure("NVRTC", nvrtc_trouble().empty() ? "is there" : nvrtc_trouble());
  for (const CudaDevice& found : library->devices()) {
    figure("device", found.name + ", capability " + std::to_string(found.capability_major) + "." +
                         std::to_string(found.capability_minor) + ", " + std::to_string(found.memory_total >> 20U) +
                         " MiB, " + (found.usable ? "usable" : "no code for it"));
  }
  require_cuda_device(*library, 0);
  return true;
}

namespace {

bool all_hold(const std::vector<SelftestRow>& rows) {
  bool all = true;
  for (const SelftestRow& row : rows) all = report(row.op, row.quantity, row.error, row.bound) && all;
  return all;
}

}  // namespace

bool ops(const std::string& device) { return all_hold(selftest(*open(device), *reference())); }

bool collectives(const std::string& device) {
  if (device == "cpu") {
    figure("NCCL", "not rehearsed: it is the device's");
    return true;
  }
  const auto library = load_cuda_library();
  figure("NCCL", load_nccl(*library));
  return all_hold(selftest_collectives(*open(device)));
}

}  // namespace trainyard::proof
