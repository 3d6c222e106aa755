// Which server keeps which variables.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "trainer/optim/optimizer.h"

namespace trainyard {

/// What one server keeps: pieces of the workers' arena, one after the other in an arena of its own.
struct Shard {
  std::vector<ParameterRange> pieces;  ///< in the workers' arena, rising
  size_t size = 0;                     ///< elements of all of them

  /// The pieces in the server's arena.
  std::vector<ParameterRange> ranges() const;
  /// arena: the workers'. packed: [size].
  void pack(std::span<const float> arena, std::span<float> packed) const;
  void unpack(std::span<const float> packed, std::span<float> arena) const;
};

/// Greedy by size: the largest piece left goes to the server that has least. A tensor of more than
/// an eighth of a server's fair part is first cut into equal pieces of at most that, unless
/// `whole_tensors` (LARS measures whole ones). tensors: rising, covering the arena. The same on
/// every rank. Servers may be left without any.
std::vector<Shard> shard_parameters(const std::vector<ParameterRange>& tensors, size_t servers, bool whole_tensors);

}  // namespace trainyard
