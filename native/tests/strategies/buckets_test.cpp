#include "trainer/strategies/buckets.h"

#include <gtest/gtest.h>

#include <vector>

namespace trainyard {
namespace {

struct Sent {
  size_t begin;
  size_t size;
  bool operator==(const Sent&) const = default;
};

/// What goes off at each report that gradients from there on are final.
std::vector<std::vector<Sent>> sent_after(size_t floats, size_t bucket_bytes, const std::vector<size_t>& reports) {
  std::vector<float> gradients(floats);
  std::vector<Sent> sent;
  Buckets buckets(
      gradients,
      [&](std::span<float> bucket) {
        sent.push_back({static_cast<size_t>(bucket.data() - gradients.data()), bucket.size()});
      },
      bucket_bytes);
  std::vector<std::vector<Sent>> all;
  for (const size_t begin : reports) {
    sent.clear();
    buckets.ready(begin);
    all.push_back(sent);
  }
  return all;
}

TEST(Buckets, GoOffOnceTheyAreWhole) {
  const std::vector<std::vector<Sent>> small = sent_after(10, 4 * sizeof(float), {7, 5, 0});
  EXPECT_EQ(small, (std::vector<std::vector<Sent>>{{}, {{6, 4}}, {{2, 4}, {0, 2}}}));
}

TEST(Buckets, ALargeOneTakesAll) {
  const std::vector<std::vector<Sent>> large = sent_after(10, usual_bucket_bytes, {5, 0});
  EXPECT_EQ(large, (std::vector<std::vector<Sent>>{{}, {{0, 10}}}));
}

}  // namespace
}  // namespace trainyard
