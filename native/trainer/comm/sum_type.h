// The names of --gradient-type: as what numbers travel that ranks sum.
#pragma once
#include <string>
#include <vector>

namespace trainyard {

enum class SumType {
  fp32,
  bf16  ///< half the bytes; each rank adds in fp32
};

/// fp32 and bf16.
std::vector<std::string> sum_type_names();
/// Throws Error(Exit::usage) for another word.
SumType sum_type_of(const std::string& name);

}  // namespace trainyard
