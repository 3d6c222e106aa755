// All-reduce algorithms as lists of messages: what one rank sends, receives and adds, round by
// round. Nothing here talks to anyone, so a test can play all ranks of a world.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace trainyard {

/// Elements [begin, end) to or from a rank; nobody: no message.
struct MessagePart {
  static constexpr int kNobody = -1;
  int peer = kNobody;
  size_t begin = 0;
  size_t end = 0;
};

/// A rank's send and receive of one round; both under way at once, the next round begins when both
/// are done.
struct Round {
  MessagePart send{};
  MessagePart receive{};
  bool add = false;  ///< what is received is added to what is there; else it takes its place
};

/// Reduce-scatter and all-gather around a ring: 2 (P - 1) rounds of a P-th of the values each, the
/// least that every rank must send (Patarasu and Yuan 2009, "Bandwidth optimal all-reduce
/// algorithms for clusters of workstations"). members: ranks, in the order of the ring; me: this
/// rank's place among them.
std::vector<Round> ring_rounds(const std::vector<int>& members, size_t me, size_t count);

/// Every rank gets its P-th of the values from all others, adds, and sends the sums to all: as many
/// bytes as the ring, in which partial sums travel, but each number is sent once before it is added.
std::vector<Round> direct_rounds(const std::vector<int>& members, size_t me, size_t count);

/// Sums at members[0] over a binomial tree, in at most log2 P rounds of all values.
std::vector<Round> tree_sum_rounds(const std::vector<int>& members, size_t me, size_t count);

/// Copies from members[0] over the same tree.
std::vector<Round> tree_copy_rounds(const std::vector<int>& members, size_t me, size_t count);

/// Sum at members[0], then copies from there.
std::vector<Round> tree_rounds(const std::vector<int>& members, size_t me, size_t count);

/// Sum at the first rank of each host, a ring of those, and copies to the rest of each host:
/// between hosts travels what one rank a host must send. hosts: where each rank of the world runs.
std::vector<Round> hierarchical_rounds(const std::vector<std::string>& hosts, size_t rank, size_t count);

}  // namespace trainyard
