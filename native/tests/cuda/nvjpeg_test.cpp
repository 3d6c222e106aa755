// The real libnvjpeg.so, as far as it goes without a GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cuda/throwing.h"
#include "trainer/ops/cuda/library/cuda_release.h"
#include "trainer/ops/cuda/library/loaded/nvjpeg_api.h"

namespace trainyard::cuda {
namespace {

class Nvjpeg : public testing::Test {
 protected:
  void SetUp() override {
    // As the trainer does, so that its name is enough from then on.
    const std::string path = std::string(TRAINYARD_NVJPEG_FOLDER) + "/libnvjpeg.so." TRAINYARD_CUDA_RELEASE;
    ASSERT_NE(::dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL), nullptr) << ::dlerror();
  }
};

TEST_F(Nvjpeg, HasAllThatIsAskedOfIt) {
  const NvjpegApi api = load_nvjpeg_api(kThrowing);
  EXPECT_NE(api.decode, nullptr);
}

TEST_F(Nvjpeg, IsTheVersionOfItsHeader) {
  EXPECT_EQ(nvjpeg_version(kThrowing), std::to_string(NVJPEG_VER_MAJOR) + "." + std::to_string(NVJPEG_VER_MINOR) + "." +
                                           std::to_string(NVJPEG_VER_PATCH));
}

}  // namespace
}  // namespace trainyard::cuda
