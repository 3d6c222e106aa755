// Which elements a dropout leaves out: the same on every back end.
#pragma once
#include "trainer/ops/cuda/math/host_device.h"

namespace trainyard::cuda {

/// SplitMix64's mixing function (Steele et al. 2014, doi:10.1145/2660193.2660195).
TRAINYARD_HD uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

/// A function of key, image and element alone, so that neither threads, nor ranks, nor a resume
/// change it.
struct DropoutMask {
  uint64_t key;
  uint64_t threshold;  // of 2^32: how many of the draws are left out
  unsigned per_image;  // elements

  TRAINYARD_HD static DropoutMask of(uint64_t key, float rate, unsigned per_image) {
    return {key, static_cast<uint64_t>(static_cast<double>(rate) * 4294967296.0), per_image};
  }

  TRAINYARD_HD bool keeps(uint64_t image, unsigned element) const {
    constexpr uint64_t kStep = 0x9e3779b97f4a7c15ULL;
    const uint64_t of_image = mixed(key + kStep * (image + 1));
    return (mixed(of_image + kStep * (element + 1ULL)) >> 32U) >= threshold;
  }
};

/// Index = element. to may be from.
template <class T>
struct Dropout {
  DropoutMask mask;
  const uint64_t* first_image;
  float scale;
  const T* from;
  T* to;

  TRAINYARD_HD void operator()(unsigned i) const {
    const bool kept = mask.keeps(*first_image + i / mask.per_image, i % mask.per_image);
    to[i] = kept ? static_cast<T>(static_cast<float>(from[i]) * scale) : T();
  }
};

}  // namespace trainyard::cuda
