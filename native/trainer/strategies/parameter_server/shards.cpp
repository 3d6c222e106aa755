#include "trainer/strategies/parameter_server/shards.h"

#include <algorithm>
#include <numeric>

namespace trainyard {
namespace {

std::vector<ParameterRange> pieces_of(const std::vector<ParameterRange>& tensors, size_t largest) {
  std::vector<ParameterRange> pieces;
  for (const ParameterRange& tensor : tensors) {
    const size_t count = std::max<size_t>(1, (tensor.size + largest - 1) / largest);
    for (size_t i = 0; i < count; ++i) {
      const size_t begin = tensor.size * i / count;
      ParameterRange piece = tensor;
      piece.offset = tensor.offset + begin;
      piece.size = tensor.size * (i + 1) / count - begin;
      pieces.push_back(piece);
    }
  }
  return pieces;
}

}  // namespace

std::vector<ParameterRange> Shard::ranges() const {
  std::vector<ParameterRange> own = pieces;
  size_t offset = 0;
  for (ParameterRange& piece : own) {
    piece.offset = offset;
    offset += piece.size;
  }
  return own;
}

void Shard::pack(std::span<const float> arena, std::span<float> packed) const {
  size_t at = 0;
  for (const ParameterRange& piece : pieces) {
    std::copy_n(arena.data() + piece.offset, piece.size, packed.data() + at);
    at += piece.size;
  }
}

void Shard::unpack(std::span<const float> packed, std::span<float> arena) const {
  size_t at = 0;
  for (const ParameterRange& piece : pieces) {
    std::copy_n(packed.data() + at, piece.size, arena.data() + piece.offset);
    at += piece.size;
  }
}

std::vector<Shard> shard_parameters(const std::vector<ParameterRange>& tensors, size_t servers, bool whole_tensors) {
  const size_t all = std::accumulate(tensors.begin(), tensors.end(), size_t{0},
                                     [](size_t sum, const ParameterRange& tensor) { return sum + tensor.size; });
  const size_t largest = whole_tensors ? all : all / (8 * servers);
  std::vector<ParameterRange> pieces = pieces_of(tensors, std::max<size_t>(1, largest));
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const ParameterRange& a, const ParameterRange& b) { return a.size > b.size; });
  std::vector<Shard> shards(servers);
  for (const ParameterRange& piece : pieces) {
    Shard& least =
        *std::min_element(shards.begin(), shards.end(), [](const Shard& a, const Shard& b) { return a.size < b.size; });
    least.pieces.push_back(piece);
    least.size += piece.size;
  }
  for (Shard& shard : shards) {
    std::sort(shard.pieces.begin(), shard.pieces.end(),
              [](const ParameterRange& a, const ParameterRange& b) { return a.offset < b.offset; });
  }
  return shards;
}

}  // namespace trainyard
