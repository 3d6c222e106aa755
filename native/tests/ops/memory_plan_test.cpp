// The planner: what lives at the same time never meets, and what does not shares.
#include "trainer/tensor/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "trainer/base/random.h"
#include "trainer/tensor/tensor_desc.h"

namespace trainyard {
namespace {

TEST(MemoryPlan, NeverOverlapsWhatLivesTogether) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random{seed};
    MemoryPlan plan;
    const int times = 1 + static_cast<int>(random.below(40));
    const int count = 1 + static_cast<int>(random.below(60));
    for (int i = 0; i < count; ++i) {
      const int buffer = plan.add(random.below(5) == 0 ? 0 : random.below(5000), static_cast<int>(random.below(times)));
      for (uint64_t use = random.below(3); use > 0; --use) plan.use(buffer, static_cast<int>(random.below(times)));
    }
    plan.solve();
    size_t most_at_once = 0;
    for (int time = 0; time < times; ++time) {
      size_t alive = 0;
      for (int i = 0; i < count; ++i) {
        if (plan.first(i) <= time && time <= plan.last(i)) alive += plan.bytes(i);
      }
      most_at_once = std::max(most_at_once, alive);
    }
    EXPECT_GE(plan.total(), most_at_once);
    // Greedy by size is no optimum, but far from no reuse at all.
    EXPECT_LE(plan.total(), 2 * most_at_once) << seed;
    for (int a = 0; a < count; ++a) {
      EXPECT_EQ(plan.offset(a) % MemoryPlan::kAlignment, 0U);
      EXPECT_LE(plan.offset(a) + plan.bytes(a), plan.total());
      for (int b = 0; b < a; ++b) {
        const bool together = plan.first(a) <= plan.last(b) && plan.first(b) <= plan.last(a);
        const bool apart =
            plan.offset(a) + plan.bytes(a) <= plan.offset(b) || plan.offset(b) + plan.bytes(b) <= plan.offset(a);
        EXPECT_TRUE(!together || apart) << "seed " << seed << ": " << a << " and " << b;
      }
    }
  }
}

TEST(MemoryPlan, ReusesWhatIsNoLongerNeeded) {
  MemoryPlan plan;
  for (int i = 0; i < 10; ++i) plan.use(plan.add(1000, i), i + 1);  // a chain: two at a time
  plan.solve();
  EXPECT_EQ(plan.total(), 2 * 1024U);
}

TEST(MemoryPlan, ExtendsLifetimesBothWays) {
  MemoryPlan plan;
  const int buffer = plan.add(10, 5);
  plan.use(buffer, 9);
  plan.use(buffer, 2);
  EXPECT_EQ(plan.first(buffer), 2);
  EXPECT_EQ(plan.last(buffer), 9);
}

TEST(TensorDesc, IndexesEveryElementOnce) {
  for (const Layout layout : {Layout::nchw, Layout::nhwc, Layout::nchw8c, Layout::nchw16c}) {
    const TensorDesc desc{{2, 19, 3, 4}, layout};
    std::vector<int> seen(desc.elements(), 0);
    for (int n = 0; n < 2; ++n) {
      for (int c = 0; c < 19; ++c) {
        for (int h = 0; h < 3; ++h) {
          for (int w = 0; w < 4; ++w) ++seen[desc.index(n, c, h, w)];
        }
      }
    }
    EXPECT_EQ(*std::max_element(seen.begin(), seen.end()), 1);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 2 * 19 * 3 * 4);
  }
  EXPECT_EQ((TensorDesc{{1, 19, 1, 1}, Layout::nchw16c}).elements(), 32U);
  EXPECT_EQ((TensorDesc{{1, 20, 2, 2}, Layout::nhwc}).index(0, 3, 1, 0), 43U);
  EXPECT_EQ((TensorDesc{{1, 32, 2, 2}, Layout::nchw16c}).index(0, 17, 0, 1), 64U + 16 + 1);
}

}  // namespace
}  // namespace trainyard
