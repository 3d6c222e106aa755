// `trainer bench matmul`: what a matrix product costs on the device of every rank.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "trainer/comm/communicator.h"

namespace trainyard {

struct BenchMatmulOptions {
  std::string comm = "auto";
  std::string precision = "fp32";
  std::string device = "cpu";
  int size = 4096;     ///< rows and columns of both factors
  double seconds = 2;  ///< measure for so long
  int threads = 1;
};

/// C = A B^T of [size, size] each, as a linear layer's forward pass. Rank r makes the r-th part of
/// C's rows. Returns {"size","precision","device","world","threads","seconds","tflops",
/// "ranks":[{"rank","host","rows","tflops","ms"}]}. tflops counts 2 * size * size * rows for each
/// product, of all ranks together and of each rank; ms is of one product. The factors are small
/// whole numbers, so C is exact in every precision. Throws Error(Exit::device) and names the rank
/// where C is not exact.
nlohmann::json bench_matmul(const BenchMatmulOptions& options, Communicator& communicator);

}  // namespace trainyard
