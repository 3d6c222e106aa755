// Random numbers that depend on nothing but their key: the same on every rank, in every run, after
// every resume.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>

namespace trainyard {

/// A stream of random numbers (SplitMix64, Steele et al. 2014, doi:10.1145/2660193.2660195) keyed
/// by any list of integers.
class Random {
 public:
  Random(std::initializer_list<uint64_t> key);
  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform in [0, count), without bias worth naming (count is far below 2^64).
  uint64_t below(uint64_t count);
  /// Standard normal, by the ziggurat method (Marsaglia and Tsang 2000, doi:10.18637/jss.v005.i08):
  /// takes one number of the stream almost always, and more sometimes.
  double normal();
  /// Fills `values` with what normal() gives so many times, each times `deviation`; several times
  /// as fast.
  void normals(std::span<float> values, double deviation);

 private:
  uint64_t state_;
};

}  // namespace trainyard
