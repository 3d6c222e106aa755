// Which device computes with what. Apart from precision.cpp, which the CUDA proof builds without a
// CPU back end.
#include <string>

#include "common/error.h"
#include "trainer/models/precision/precision.h"
#include "trainer/ops/contract/backend.h"

namespace trainyard {

void require_precision(Precision precision, const std::string& device) {
  // Which precisions a GPU has is known once it is open: prepare_backend().
  if (precision == Precision::fp32 || device == "cuda") return;
  const std::string flag = std::string("--precision ") + precision_name(precision);
  if (precision != Precision::bf16) {
    throw Error(Exit::device, flag + " is for GPUs, and not for a CPU. Use --precision bf16 or fp32, or --device cuda");
  }
  if (!make_cpu_backend()->stores(DType::bf16)) {
    throw Error(Exit::device,
                flag +
                    " needs a processor with AVX-512 (AMX or AVX512-BF16 make it fast), which this one is not. Use "
                    "--precision fp32, or another machine");
  }
}

}  // namespace trainyard
