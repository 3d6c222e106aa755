#include "trainer/models/precision.h"

#include <array>

#include "common/error.h"
#include "trainer/ops/contract/backend.h"

namespace trainyard {

std::span<const std::string> precision_names() {
  static const std::array<std::string, 4> names{"fp32", "tf32", "bf16", "fp16"};
  return names;
}

const char* precision_name(Precision precision) { return precision_names()[static_cast<size_t>(precision)].c_str(); }

Precision parse_precision(const std::string& name) {
  const auto names = precision_names();
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Precision>(i);
  }
  throw Error(Exit::usage, "There is no precision '" + name + "'. Use fp32, tf32, bf16 or fp16");
}

DType storage_of(Precision precision) {
  if (precision == Precision::fp16) throw Error(Exit::device, "No back end stores fp16 yet. Use --precision bf16");
  return precision == Precision::bf16 ? DType::bf16 : DType::f32;
}

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
