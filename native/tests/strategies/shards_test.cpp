// Which server keeps what: everything once, about equally much each, and back again.
#include "trainer/strategies/parameter_server/shards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace trainyard {
namespace {

std::vector<ParameterRange> tensors(const std::vector<size_t>& sizes) {
  std::vector<ParameterRange> ranges;
  size_t offset = 0;
  for (const size_t size : sizes) {
    ranges.push_back({.offset = offset, .size = size, .adapt = size > 10});
    offset += size;
  }
  return ranges;
}

/// ResNet-like: two tensors hold most of all, and there are many small ones.
const std::vector<size_t> kSizes = {864, 10, 10, 9000, 10, 10, 2000, 64, 512, 10, 7};

void expect_a_partition(const std::vector<Shard>& shards, const std::vector<ParameterRange>& all) {
  std::vector<ParameterRange> pieces;
  for (const Shard& shard : shards) {
    size_t size = 0;
    for (const ParameterRange& piece : shard.pieces) size += piece.size;
    EXPECT_EQ(size, shard.size);
    pieces.insert(pieces.end(), shard.pieces.begin(), shard.pieces.end());
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const ParameterRange& a, const ParameterRange& b) { return a.offset < b.offset; });
  size_t next = 0;
  for (const ParameterRange& piece : pieces) {
    EXPECT_EQ(piece.offset, next);
    next += piece.size;
    const auto owner = std::find_if(all.rbegin(), all.rend(),
                                    [&](const ParameterRange& tensor) { return tensor.offset <= piece.offset; });
    ASSERT_NE(owner, all.rend());
    EXPECT_LE(piece.offset + piece.size, owner->offset + owner->size);  // no piece of two tensors
    EXPECT_EQ(piece.adapt, owner->adapt);
  }
  EXPECT_EQ(next, all.back().offset + all.back().size);
}

TEST(Shards, HoldEverythingOnceAndAboutEquallyMuch) {
  const auto all = tensors(kSizes);
  const size_t elements = std::accumulate(kSizes.begin(), kSizes.end(), size_t{0});
  for (size_t servers = 1; servers <= 8; ++servers) {
    const auto shards = shard_parameters(all, servers, false);
    ASSERT_EQ(shards.size(), servers);
    expect_a_partition(shards, all);
    for (const Shard& shard : shards) {
      EXPECT_LE(shard.size, elements / servers * 9 / 8) << servers << " servers";
      EXPECT_GE(shard.size, elements / servers * 7 / 8) << servers << " servers";
    }
  }
}

TEST(Shards, KeepTensorsWholeWhereTheirLengthsMatter) {
  const auto all = tensors(kSizes);
  const auto shards = shard_parameters(all, 3, true);
  expect_a_partition(shards, all);
  size_t pieces = 0;
  for (const Shard& shard : shards) pieces += shard.pieces.size();
  EXPECT_EQ(pieces, kSizes.size());
  EXPECT_EQ(shards.front().size, 9000U);  // the largest tensor has a server of its own
  EXPECT_EQ(shard_parameters(all, 20, true).back().size, 0U);
}

TEST(Shards, PackAndUnpack) {
  const auto all = tensors(kSizes);
  const size_t elements = all.back().offset + all.back().size;
  std::vector<float> arena(elements);
  std::iota(arena.begin(), arena.end(), 1.0F);
  std::vector<float> back(elements, 0.0F);
  for (const Shard& shard : shard_parameters(all, 3, false)) {
    std::vector<float> packed(shard.size);
    shard.pack(arena, packed);
    const auto ranges = shard.ranges();
    for (size_t i = 0; i < ranges.size(); ++i) {
      EXPECT_EQ(packed[ranges[i].offset], arena[shard.pieces[i].offset]);
    }
    shard.unpack(packed, back);
  }
  EXPECT_EQ(back, arena);
}

}  // namespace
}  // namespace trainyard
