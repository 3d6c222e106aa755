#include "trainer/comm/sum_type.h"

#include "common/error.h"

namespace trainyard {

std::vector<std::string> sum_type_names() { return {"fp32", "bf16"}; }

SumType sum_type_of(const std::string& name) {
  if (name == "fp32") return SumType::fp32;
  if (name == "bf16") return SumType::bf16;
  throw Error(Exit::usage, "unknown --gradient-type '" + name + "'. Use fp32 or bf16");
}

}  // namespace trainyard
