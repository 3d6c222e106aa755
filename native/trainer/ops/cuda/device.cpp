#include <cstdlib>

#include "common/error.h"
#include "trainer/ops/cuda/kernels/report.h"
#include "trainer/ops/cuda/makers.h"

namespace trainyard::cuda {

void Device::make_tickets() { tickets = memory->allocate(kTickets * sizeof(unsigned)); }

void Device::fail(int exit_code, const std::string& message) const {
  launcher.fail(exit_code, message.c_str(), default_retry(static_cast<Exit>(exit_code)) == Retry::worthwhile);
  std::abort();  // a launcher's fail never returns
}

void require_channels_last(const Device& device, const TensorDesc& tensor, const char* op) {
  const bool same = tensor.layout == Layout::nchw && tensor.shape.pixels() == 1;
  if (tensor.layout == Layout::nhwc || same) return;
  device.fail(static_cast<int>(Exit::internal), std::string("The CUDA back end's ") + op + " was asked for layout " +
                                                    layout_name(tensor.layout) + ". Report it.");
}

void report_too_large(const Launcher& launcher, size_t count) {
  const std::string message = "A tensor of " + std::to_string(count) +
                              " elements is too large for the CUDA back end (" + std::to_string(kMostElements) +
                              " at most). Lower --batch-size or --image-size";
  launcher.fail(static_cast<int>(Exit::device), message.c_str(), false);
}

}  // namespace trainyard::cuda
