#include "trainer/models/precision/precision.h"

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
  if (precision == Precision::fp16) return DType::f16;
  return precision == Precision::bf16 ? DType::bf16 : DType::f32;
}

void prepare_backend(Backend& backend, Precision precision) {
  const bool able = precision == Precision::tf32 ? backend.allow_tf32() : backend.stores(storage_of(precision));
  if (able) return;
  throw Error(Exit::device, std::string("--precision ") + precision_name(precision) + " is not for " + backend.name() +
                                ", which does not compute with it. Use --precision fp32, or fp16 on a GPU");
}

void require_gpu_precision(Precision precision, const std::string& name, int capability_major) {
  if (precision == Precision::fp32 || precision == Precision::fp16 || capability_major >= 8) return;
  throw Error(Exit::device, std::string("--precision ") + precision_name(precision) +
                                " needs a GPU of compute capability 8.0 (Ampere) or newer, and " + name + " has " +
                                std::to_string(capability_major) + ".x. Use --precision fp16, or fp32");
}

}  // namespace trainyard
