#include "trainer/base/random.h"

#include <array>
#include <cmath>

namespace trainyard {

namespace {

__extension__ using Wide = unsigned __int128;

/// Strips of one area under exp(-x^2 / 2), the lowest of which holds the tail beyond kTail (Marsaglia and Tsang 2000,
/// with 256 strips instead of their 128; both constants follow from that number).
class Ziggurat {
 public:
  static constexpr size_t kStrips = 256;
  static constexpr double kTail = 3.6541528853610088;

  Ziggurat() {
    constexpr double kArea = 0.00492867323399;
    edges_[0] = kArea / density(kTail);
    edges_[1] = kTail;
    for (size_t i = 2; i < kStrips; ++i)
      edges_[i] = std::sqrt(-2.0 * std::log(kArea / edges_[i - 1] + density(edges_[i - 1])));
    edges_[kStrips] = 0;
    for (size_t i = 0; i <= kStrips; ++i) heights_[i] = density(edges_[i]);
  }

  static double density(double x) { return std::exp(-0.5 * x * x); }
  /// Where strip `i` ends; strip `i` lies wholly under the curve up to `edge(i + 1)`.
  double edge(size_t i) const { return edges_[i]; }
  /// A height within strip `i`, for `u` in [0, 1).
  double height(size_t i, double u) const { return heights_[i] + u * (heights_[i + 1] - heights_[i]); }

 private:
  std::array<double, kStrips + 1> edges_;
  std::array<double, kStrips + 1> heights_;
};

const Ziggurat& ziggurat() {
  static const Ziggurat table;
  return table;
}

}  // namespace

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
  const Ziggurat& table = ziggurat();
  for (;;) {
    const uint64_t bits = next();
    const size_t strip = bits % Ziggurat::kStrips;
    const double sign = (bits >> 8 & 1) != 0 ? -1.0 : 1.0;
    const double x = static_cast<double>(bits >> 11) * 0x1.0p-53 * table.edge(strip);
    if (x < table.edge(strip + 1)) return sign * x;
    if (strip == 0) return sign * beyond_tail();
    if (table.height(strip, uniform()) < Ziggurat::density(x)) return sign * x;
  }
}

double Random::beyond_tail() {
  for (;;) {
    const double x = -std::log(1.0 - uniform()) / Ziggurat::kTail;
    const double y = -std::log(1.0 - uniform());
    if (2 * y >= x * x) return Ziggurat::kTail + x;
  }
}

}  // namespace trainyard
