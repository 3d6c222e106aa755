#include "trainer/models/precision.h"

#include <array>

#include "common/error.h"

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

}  // namespace trainyard
