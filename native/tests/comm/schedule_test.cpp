// All-reduce schedules, played by all ranks of a world in one process: sums, what travels, and who
// may add.
#include "trainer/comm/schedule.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>

#include "common/error.h"
#include "trainer/comm/all_reduce_kind.h"

namespace trainyard {
namespace {

using Maker = std::function<std::vector<Round>(size_t rank, size_t count)>;

struct Played {
  std::vector<std::vector<double>> values;              ///< of each rank, at the end
  std::map<std::pair<size_t, size_t>, size_t> traffic;  ///< elements from rank to rank
};

/// Each rank goes on to its next round when what it waits for has been sent; nobody may be left
/// waiting.
Played play(const std::vector<std::vector<double>>& start, const Maker& maker) {
  const size_t world = start.size();
  Played played{start, {}};
  std::map<std::pair<size_t, size_t>, std::vector<std::vector<double>>> under_way;  // from, to: oldest first
  std::vector<std::vector<Round>> rounds;
  std::vector<size_t> at(world, 0);
  std::vector<bool> sent(world, false);
  for (size_t r = 0; r < world; ++r) rounds.push_back(maker(r, start[r].size()));
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t r = 0; r < world; ++r) {
      if (at[r] == rounds[r].size()) continue;
      const Round& round = rounds[r][at[r]];
      std::vector<double>& mine = played.values[r];
      if (!sent[r] && round.send.peer >= 0) {
        const auto to = static_cast<size_t>(round.send.peer);
        const auto begin = mine.begin() + static_cast<std::ptrdiff_t>(round.send.begin);
        const auto end = mine.begin() + static_cast<std::ptrdiff_t>(round.send.end);
        under_way[{r, to}].emplace_back(begin, end);
        played.traffic[{r, to}] += round.send.end - round.send.begin;
      }
      sent[r] = true;
      if (round.receive.peer >= 0) {
        auto& queue = under_way[{static_cast<size_t>(round.receive.peer), r}];
        if (queue.empty()) continue;
        EXPECT_EQ(queue.front().size(), round.receive.end - round.receive.begin);
        for (size_t i = 0; i < queue.front().size(); ++i) {
          double& to = mine[round.receive.begin + i];
          to = round.add ? to + queue.front()[i] : queue.front()[i];
        }
        queue.erase(queue.begin());
      }
      ++at[r];
      sent[r] = false;
      moved = true;
    }
  }
  for (size_t r = 0; r < world; ++r) EXPECT_EQ(at[r], rounds[r].size()) << "rank " << r << " waits for ever";
  for (const auto& [way, queue] : under_way) EXPECT_TRUE(queue.empty()) << "what nobody receives";
  return played;
}

/// Rank r holds (r + 1) * (1, 1/3, 1/9, …): sums whose rounding depends on the order.
std::vector<std::vector<double>> thirds(size_t world, size_t count) {
  std::vector<std::vector<double>> values(world, std::vector<double>(count));
  for (size_t r = 0; r < world; ++r) {
    for (size_t i = 0; i < count; ++i) values[r][i] = static_cast<double>(r + 1) / static_cast<double>(3 * i + 1);
  }
  return values;
}

std::vector<int> everyone(size_t world) {
  std::vector<int> ranks(world);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

void expect_sums(const Played& played, const std::vector<std::vector<double>>& start) {
  for (size_t i = 0; i < start.front().size(); ++i) {
    double sum = 0;
    for (const auto& values : start) sum += values[i];
    EXPECT_NEAR(played.values.front()[i], sum, 1e-12 * sum);
  }
  // The same bits everywhere.
  for (const auto& values : played.values) EXPECT_EQ(values, played.values.front());
}

TEST(Schedules, SumOnEveryRank) {
  for (size_t world = 1; world <= 9; ++world) {
    for (const size_t count : {size_t{1}, size_t{7}, size_t{40}}) {
      const auto start = thirds(world, count);
      const auto ranks = everyone(world);
      expect_sums(play(start, [&](size_t r, size_t n) { return ring_rounds(ranks, r, n); }), start);
      expect_sums(play(start, [&](size_t r, size_t n) { return tree_rounds(ranks, r, n); }), start);
      expect_sums(play(start, [&](size_t r, size_t n) { return direct_rounds(ranks, r, n); }), start);
      for (size_t a_host = 1; a_host <= world; ++a_host) {
        std::vector<std::string> hosts;
        for (size_t r = 0; r < world; ++r) hosts.push_back("h" + std::to_string(r / a_host));
        expect_sums(play(start, [&](size_t r, size_t n) { return hierarchical_rounds(hosts, r, n); }), start);
      }
    }
  }
}

TEST(Schedules, SumAtTheFirstOverATree) {
  const auto start = thirds(6, 5);
  const auto ranks = everyone(6);
  const Played played = play(start, [&](size_t r, size_t n) { return tree_sum_rounds(ranks, r, n); });
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(played.values[0][i], 21 * start[0][i], 1e-12);
  EXPECT_EQ(played.traffic.size(), 5U);  // each of the others sends once
}

TEST(Schedules, RingSendsTheLeastThatIsPossible) {
  const auto start = thirds(5, 100);
  const auto ranks = everyone(5);
  const Played played = play(start, [&](size_t r, size_t n) { return ring_rounds(ranks, r, n); });
  for (const auto& [way, elements] : played.traffic) {
    EXPECT_EQ(way.second, (way.first + 1) % 5);
    EXPECT_EQ(elements, 2U * 100U * 4U / 5U);
  }
}

TEST(Schedules, DirectSendsAsLittleAsTheRing) {
  const auto start = thirds(5, 100);
  const auto ranks = everyone(5);
  const Played played = play(start, [&](size_t r, size_t n) { return direct_rounds(ranks, r, n); });
  EXPECT_EQ(played.traffic.size(), 20U);  // everyone to everyone
  for (const auto& [way, elements] : played.traffic) EXPECT_EQ(elements, 2U * 100U / 5U);
}

TEST(Schedules, HierarchyLeavesAHostOnlyThroughItsFirstRank) {
  const std::vector<std::string> hosts = {"a", "b", "a", "b", "b", "c"};
  const auto start = thirds(6, 60);
  const Played played = play(start, [&](size_t r, size_t n) { return hierarchical_rounds(hosts, r, n); });
  expect_sums(played, start);
  size_t between = 0;
  for (const auto& [way, elements] : played.traffic) {
    if (hosts[way.first] == hosts[way.second]) continue;
    for (const size_t rank : {way.first, way.second}) EXPECT_TRUE(rank == 0 || rank == 1 || rank == 5) << rank;
    between += elements;
  }
  EXPECT_EQ(between, 3U * 2U * 60U * 2U / 3U);  // a ring of three
}

TEST(AllReduceKinds, AreChosenByTheHosts) {
  for (const auto& [type, own] : std::map<SumType, AllReduceKind>{{SumType::fp32, AllReduceKind::library},
                                                                  {SumType::bf16, AllReduceKind::direct}}) {
    EXPECT_EQ(all_reduce_kind("auto", {"a", "a", "a"}, type), own);
    EXPECT_EQ(all_reduce_kind("auto", {"a", "b", "c"}, type), own);
    EXPECT_EQ(all_reduce_kind("auto", {"a", "a", "b"}, type), AllReduceKind::hierarchical);
    EXPECT_EQ(all_reduce_kind("ring", {"a", "a", "b"}, type), AllReduceKind::ring);
    EXPECT_THROW(all_reduce_kind("rnig", {"a"}, type), Error);
  }
  for (const std::string& name : sum_type_names()) EXPECT_NO_THROW(sum_type_of(name));
  EXPECT_THROW(sum_type_of("fp16"), Error);
}

}  // namespace
}  // namespace trainyard
