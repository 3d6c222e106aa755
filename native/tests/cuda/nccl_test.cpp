// The real libnccl.so.2, as far as it goes without a GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cuda/throwing.h"
#include "trainer/ops/cuda/library/loaded/nccl_api.h"

namespace trainyard::cuda {
namespace {

class Nccl : public testing::Test {
 protected:
  void SetUp() override {
    // As the trainer does, so that its name is enough from then on.
    const std::string path = std::string(TRAINYARD_NCCL_FOLDER) + "/libnccl.so.2";
    ASSERT_NE(::dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL), nullptr) << ::dlerror();
  }
};

TEST_F(Nccl, HasAllThatIsAskedOfIt) {
  const NcclApi api = load_nccl_api(kThrowing);
  EXPECT_NE(api.comm_register, nullptr);
  EXPECT_NE(api.comm_deregister, nullptr);
  EXPECT_NE(api.mem_alloc, nullptr);
  EXPECT_NE(api.mem_free, nullptr);
  EXPECT_STREQ(api.get_error_string(ncclInvalidUsage), "invalid usage (run with NCCL_DEBUG=WARN for details)");
}

TEST_F(Nccl, IsTheVersionOfItsHeader) {
  EXPECT_EQ(nccl_version(kThrowing),
            std::to_string(NCCL_MAJOR) + "." + std::to_string(NCCL_MINOR) + "." + std::to_string(NCCL_PATCH));
}

TEST_F(Nccl, MakesIdsThatDiffer) {
  const DeviceGroupId one = new_nccl_id(kThrowing);
  EXPECT_NE(one, DeviceGroupId{});
  EXPECT_NE(one, new_nccl_id(kThrowing));
}

}  // namespace
}  // namespace trainyard::cuda
