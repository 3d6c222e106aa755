#include "trainer/base/random.h"

#include <cmath>
#include <numbers>

namespace trainyard {

namespace {
__extension__ using Wide = unsigned __int128;
}

Random::Random(std::initializer_list<uint64_t> key) : state_(0x243f6a8885a308d3ULL) {
  for (const uint64_t part : key) state_ = next() ^ part;
}

uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

uint64_t Random::below(uint64_t count) { return static_cast<uint64_t>((static_cast<Wide>(next()) * count) >> 64); }

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace trainyard
