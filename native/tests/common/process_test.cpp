#include "common/process.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace trainyard {
namespace {

TEST(Process, IsAliveWhereNoDescriptorIsLeftToLookAtIt) {
  const ProcessId self{::getpid(), process_start_time(::getpid()).value()};
  ASSERT_TRUE(is_alive(self));
  EXPECT_FALSE(is_alive({self.pid, self.start_time + 1}));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool alive = is_alive(self);
  const bool absent = is_alive({(1 << 22) + 1, 1});  // above the kernel's largest pid
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(alive);
  EXPECT_FALSE(absent);
}

}  // namespace
}  // namespace trainyard
