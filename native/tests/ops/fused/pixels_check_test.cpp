// The check of the kernel of products of pixels. The kernel is the one of host_pixels.cpp, loops on
// the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/ops/fused/measured_gpu.h"
#include "trainer/ops/cuda/fused/pixels_trial.h"
#include "trainer/ops/cuda/fused/pointwise_check.h"

namespace trainyard::test {
namespace {

using cuda::PixelsTiling;
using cuda::PixelsTrial;

/// What the check says of the host's kernel, whose results `spoil` changes.
std::string said_of(const PixelsTiling& tiling, bool fp16, SpoilPixels spoil = {}) {
  std::string said;
  HostKernels kernels;
  kernels.spoil_pixels = std::move(spoil);
  kernels.fused = [&](const cuda::Device& device, unsigned processors) {
    said = cuda::check_pixels(device, tiling, fp16);
    return std::make_unique<cuda::FusedKernels>(cuda::FusedKernels{
        device, processors, nullptr, "A GPU", "cuDNN 9.19.0", "1", {}, {"cuda:0 A GPU", [](const std::string&) {}}});
  };
  make_host_cuda_with(std::move(kernels));
  return said;
}

TEST(PixelsCheck, RunsBlocksAgainAndAgainWithAChunkThatIsNotFull) {
  for (const PixelsTiling& tiling : cuda::kPixelsTilings) {
    const auto [shape, processors] = PixelsTrial::of(tiling, false);
    EXPECT_TRUE(tiling.takes(shape, processors));
    EXPECT_EQ(cuda::find_tiling(cuda::kPixelsTilings, shape, processors), &tiling);
    EXPECT_EQ(tiling.steps(shape, processors), 2U);
    EXPECT_GE(tiling.chunks(shape), 2 * 12U);
    EXPECT_EQ(tiling.chunks(shape) % 2, 1U);
    EXPECT_NE(shape.rows % 64, 0U);
  }
}

TEST(PixelsCheck, PassesEveryTilingThatComputesRightly) {
  for (const PixelsTiling& tiling : cuda::kPixelsTilings) {
    for (const bool fp16 : {false, true}) EXPECT_EQ(said_of(tiling, fp16), "");
  }
}

/// Numbers of a step, and of all steps.
size_t step_numbers(const WrittenPixels& w) { return size_t{w.shape.results()} * w.shape.in; }
size_t numbers(const WrittenPixels& w) { return w.tiling.partial_numbers(w.shape, w.processors); }

/// What a kernel may do wrong, and how what is said of it begins; of 256 channels out and 64 in.
struct Fault {
  const char* name;
  SpoilPixels spoil;
  const char* said;
};

const std::vector<Fault> kFaults{
    {"a number is not written",
     [](const WrittenPixels& w) { w.partial[3 * 64 + 5] = std::numeric_limits<float>::quiet_NaN(); },
     "row 3, column 5 of step 0 is nan instead of "},
    {"a number of g^T x is wrong", [](const WrittenPixels& w) { w.partial[255 * 64] += 0.25F; },
     "row 255, column 0 of step 0 is "},
    {"one of x^T x", [](const WrittenPixels& w) { w.partial[step_numbers(w) + 256 * 64 + 63] -= 0.25F; },
     "row 256, column 63 of step 1 is "},
    {"a sum of x", [](const WrittenPixels& w) { w.partial[numbers(w) - 64] += 0.5F; },
     "row 320, column 0 of step 1 is "},
    {"one step's sums for another's",
     [](const WrittenPixels& w) {
       std::swap_ranges(w.partial, w.partial + step_numbers(w), w.partial + step_numbers(w));
     },
     "row 0, column 0 of step 0 is "},
    {"columns of a row moved by eight",
     [](const WrittenPixels& w) {
       float* row = w.partial + 17 * 64;
       std::rotate(row, row + 8, row + 64);
     },
     "row 17, column "},
    {"a row behind the end", [](const WrittenPixels& w) { w.partial[numbers(w) + 63] = 0; },
     "it writes behind the end"},
};

TEST(PixelsCheck, SaysWhatIsWrong) {
  const PixelsTiling& tiling = cuda::kPixelsTilings[0];
  ASSERT_EQ(tiling.out, 256U);
  ASSERT_EQ(tiling.in, 64U);
  for (const Fault& fault : kFaults) {
    const std::string said = said_of(tiling, false, fault.spoil);
    EXPECT_TRUE(said.starts_with(fault.said)) << fault.name << ": " << said;
  }
}

}  // namespace
}  // namespace trainyard::test
