#include "trainer/models/initialise.h"

#include <algorithm>

#include "trainer/base/name_key.h"
#include "trainer/base/parallel.h"
#include "trainer/base/random.h"

namespace trainyard {

namespace {

/// Each piece of a tensor has a stream of its own, so that threads need not wait for one another's
/// numbers.
constexpr size_t kPiece = 16384;

void fill(const Parameter& parameter, uint64_t seed, size_t piece, std::span<float> values) {
  Random random{seed, name_key(parameter.name), piece};
  switch (parameter.init) {
    case Init::zeros:
      std::ranges::fill(values, 0.0F);
      break;
    case Init::ones:
      std::ranges::fill(values, 1.0F);
      break;
    case Init::normal:
      random.normals(values, parameter.spread);
      break;
    case Init::uniform:
      for (float& value : values) value = static_cast<float>(random.uniform(-parameter.spread, parameter.spread));
      break;
  }
}

}  // namespace

void initialise(const std::vector<Parameter>& parameters, uint64_t seed, std::span<float> arena) {
  for (const Parameter& parameter : parameters) {
    const std::span<float> values = arena.subspan(parameter.offset, parameter.size);
    parallel_for((values.size() + kPiece - 1) / kPiece, 1, [&](size_t begin, size_t end) {
      for (size_t piece = begin; piece < end; ++piece) {
        const size_t at = piece * kPiece;
        fill(parameter, seed, piece, values.subspan(at, std::min(kPiece, values.size() - at)));
      }
    });
  }
}

}  // namespace trainyard
