// What a CUDA library that was built without nvJPEG's header says of it: this program is compiled
// without CUDA's.
#include <gtest/gtest.h>

#include <string>

#include "tests/cuda/throwing.h"
#include "trainer/ops/cuda/library/loaded/nvjpeg_api.h"

#ifdef TRAINYARD_NVJPEG
#error "this program is to be compiled without nvjpeg.h"
#endif

namespace trainyard::cuda {
namespace {

TEST(WithoutNvjpeg, SaysWhatItWasBuiltWithout) {
  try {
    nvjpeg_version(kThrowing);
    FAIL() << "a version of nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::device);
    EXPECT_NE(std::string(error.what()).find("built without nvJPEG's header"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("--jpeg-decoder cpu"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace trainyard::cuda
