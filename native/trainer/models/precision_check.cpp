// Which device computes with what. Apart from precision.cpp, which the CUDA proof builds without a CPU back end.
#include <string>

#include "common/error.h"
#include "trainer/models/precision.h"
#include "trainer/ops/contract/backend.h"

namespace trainyard {

void require_precision(Precision precision, const std::string& device) {
  if (precision == Precision::fp32) return;
  const std::string flag = std::string("--precision ") + precision_name(precision);
  if (device == "cuda") {
    throw Error(Exit::device, flag + " does not work on GPUs yet. Use --precision fp32, or bf16 with --device cpu");
  }
  if (precision != Precision::bf16) {
    throw Error(Exit::device,
                flag + " is for GPUs, where it is not there yet, and not for a CPU. Use --precision bf16 or fp32");
  }
  if (!make_cpu_backend()->stores(DType::bf16)) {
    throw Error(Exit::device,
                flag +
                    " needs a processor with AVX-512 (AMX or AVX512-BF16 make it fast), which this one is not. Use "
                    "--precision fp32, or another machine");
  }
}

}  // namespace trainyard
