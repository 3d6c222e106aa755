#include "trainer/base/random.h"

#include <array>
#include <bit>
#include <cmath>

namespace trainyard {

namespace {

__extension__ using Wide = unsigned __int128;

/// Strips of one area under exp(-x^2 / 2), the lowest of which holds the tail beyond kTail
/// (Marsaglia and Tsang 2000, with 256 strips instead of their 128; both constants follow from that
/// number).
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

double beyond_tail(Random& random) {
  for (;;) {
    const double x = -std::log(1.0 - random.uniform()) / Ziggurat::kTail;
    const double y = -std::log(1.0 - random.uniform());
    if (2 * y >= x * x) return Ziggurat::kTail + x;
  }
}

/// One number of the stream as a strip, a sign and a place within the strip.
struct Pick {
  size_t strip;
  uint64_t sign;
  double x;

  Pick(const Ziggurat& table, uint64_t bits)
      : strip(bits % Ziggurat::kStrips),
        sign((bits >> 8 & 1) << 63),
        x(static_cast<double>(bits >> 11) * 0x1.0p-53 * table.edge(strip)) {}
  bool inside(const Ziggurat& table) const { return x < table.edge(strip + 1); }
  double with_sign(double value) const { return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ sign); }
};

struct Drawn {
  double value;
  Random after;
};

/// Goes on where a pick does not lie wholly under the curve. By value, so that the caller's stream
/// can be a register.
[[gnu::noinline]] Drawn draw_at_edge(const Ziggurat& table, Pick pick, Random random) {
  for (;;) {
    if (pick.strip == 0) {
      const double value = pick.with_sign(beyond_tail(random));
      return {value, random};
    }
    if (table.height(pick.strip, random.uniform()) < Ziggurat::density(pick.x)) return {pick.with_sign(pick.x), random};
    pick = Pick(table, random.next());
    if (pick.inside(table)) return {pick.with_sign(pick.x), random};
  }
}

inline double draw(const Ziggurat& table, Random& random) {
  const Pick pick(table, random.next());
  if (pick.inside(table)) return pick.with_sign(pick.x);
  const Drawn drawn = draw_at_edge(table, pick, random);
  random = drawn.after;
  return drawn.value;
}

}  // namespace

Random::Random(std::initializer_list<uint64_t> key) : state_(0x243f6a8885a308d3ULL) {
  for (const uint64_t part : key) state_ = next() ^ part;
}

uint64_t Random::below(uint64_t count) { return static_cast<uint64_t>((static_cast<Wide>(next()) * count) >> 64); }

double Random::normal() { return draw(ziggurat(), *this); }

void Random::normals(std::span<float> values, double deviation) {
  const Ziggurat& table = ziggurat();
  Random random = *this;  // draw() inlined, its state stays in a register
  for (float& value : values) value = static_cast<float>(draw(table, random) * deviation);
  *this = random;
}

}  // namespace trainyard
