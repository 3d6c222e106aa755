#include "trainer/comm/schedule.h"

#include <algorithm>

namespace trainyard {
namespace {

void append(std::vector<Round>& rounds, const std::vector<Round>& more) {
  rounds.insert(rounds.end(), more.begin(), more.end());
}

}  // namespace

std::vector<Round> ring_rounds(const std::vector<int>& members, size_t me, size_t count) {
  const size_t size = members.size();
  const int next = members[(me + 1) % size];
  const int previous = members[(me + size - 1) % size];
  // Chunk numbers count downwards from `me`; `size` keeps the difference from falling below 0.
  const auto chunk = [&](int peer, size_t number) {
    const size_t i = number % size;
    return MessagePart{peer, count * i / size, count * (i + 1) / size};
  };
  std::vector<Round> rounds;
  for (size_t s = 0; s + 1 < size; ++s) {
    rounds.push_back({chunk(next, me + size - s), chunk(previous, me + size - s - 1), true});
  }
  for (size_t s = 0; s + 1 < size; ++s) {
    rounds.push_back({chunk(next, me + size + 1 - s), chunk(previous, me + size - s), false});
  }
  return rounds;
}

std::vector<Round> direct_rounds(const std::vector<int>& members, size_t me, size_t count) {
  const size_t size = members.size();
  const auto chunk = [&](size_t peer, size_t number) {
    return MessagePart{members[peer], count * number / size, count * (number + 1) / size};
  };
  std::vector<Round> rounds;
  for (size_t s = 1; s < size; ++s) {
    const size_t to = (me + s) % size;
    rounds.push_back({chunk(to, to), chunk((me + size - s) % size, me), true});
  }
  for (size_t s = 1; s < size; ++s) {
    const size_t from = (me + size - s) % size;
    rounds.push_back({chunk((me + s) % size, me), chunk(from, from), false});
  }
  return rounds;
}

std::vector<Round> tree_sum_rounds(const std::vector<int>& members, size_t me, size_t count) {
  std::vector<Round> rounds;
  for (size_t bit = 1; bit < members.size(); bit <<= 1U) {
    if ((me & bit) != 0) {
      rounds.push_back({.send = {members[me - bit], 0, count}});
      break;
    }
    if (me + bit < members.size()) rounds.push_back({.receive = {members[me + bit], 0, count}, .add = true});
  }
  return rounds;
}

std::vector<Round> tree_copy_rounds(const std::vector<int>& members, size_t me, size_t count) {
  std::vector<Round> rounds = tree_sum_rounds(members, me, count);
  std::reverse(rounds.begin(), rounds.end());
  for (Round& round : rounds) {
    std::swap(round.send, round.receive);
    round.add = false;
  }
  return rounds;
}

std::vector<Round> tree_rounds(const std::vector<int>& members, size_t me, size_t count) {
  std::vector<Round> rounds = tree_sum_rounds(members, me, count);
  append(rounds, tree_copy_rounds(members, me, count));
  return rounds;
}

std::vector<Round> hierarchical_rounds(const std::vector<std::string>& hosts, size_t rank, size_t count) {
  std::vector<int> mine;     // ranks of this rank's host
  std::vector<int> leaders;  // the first rank of each host
  size_t my_place = 0;
  size_t my_leader = 0;
  for (size_t r = 0; r < hosts.size(); ++r) {
    if (r == rank) my_place = mine.size();
    if (hosts[r] == hosts[rank]) mine.push_back(static_cast<int>(r));
    const auto first = std::find(hosts.begin(), hosts.end(), hosts[r]);
    if (first - hosts.begin() != static_cast<std::ptrdiff_t>(r)) continue;
    if (hosts[r] == hosts[rank]) my_leader = leaders.size();
    leaders.push_back(static_cast<int>(r));
  }
  std::vector<Round> rounds = tree_sum_rounds(mine, my_place, count);
  if (my_place == 0) append(rounds, ring_rounds(leaders, my_leader, count));
  append(rounds, tree_copy_rounds(mine, my_place, count));
  return rounds;
}

}  // namespace trainyard
