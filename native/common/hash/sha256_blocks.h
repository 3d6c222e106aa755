// SHA-256's block function on the processor's SHA extensions. Written over a set of operations, so
// that a test can put the instructions' published definitions in their place on a processor that
// lacks them.
#pragma once
#include <immintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace trainyard::sha256_detail {

/// The constants K of FIPS 180-4, section 4.2.2.
inline constexpr std::array<uint32_t, 64> round_constants{
    0x428a2f98U, 0x71374491U, 0xb5c0fbcfU, 0xe9b5dba5U, 0x3956c25bU, 0x59f111f1U, 0x923f82a4U, 0xab1c5ed5U,
    0xd807aa98U, 0x12835b01U, 0x243185beU, 0x550c7dc3U, 0x72be5d74U, 0x80deb1feU, 0x9bdc06a7U, 0xc19bf174U,
    0xe49b69c1U, 0xefbe4786U, 0x0fc19dc6U, 0x240ca1ccU, 0x2de92c6fU, 0x4a7484aaU, 0x5cb0a9dcU, 0x76f988daU,
    0x983e5152U, 0xa831c66dU, 0xb00327c8U, 0xbf597fc7U, 0xc6e00bf3U, 0xd5a79147U, 0x06ca6351U, 0x14292967U,
    0x27b70a85U, 0x2e1b2138U, 0x4d2c6dfcU, 0x53380d13U, 0x650a7354U, 0x766a0abbU, 0x81c2c92eU, 0x92722c85U,
    0xa2bfe8a1U, 0xa81a664bU, 0xc24b8b70U, 0xc76c51a3U, 0xd192e819U, 0xd6990624U, 0xf40e3585U, 0x106aa070U,
    0x19a4c116U, 0x1e376c08U, 0x2748774cU, 0x34b0bcb5U, 0x391c0cb3U, 0x4ed8aa4aU, 0x5b9cca4fU, 0x682e6ff3U,
    0x748f82eeU, 0x78a5636fU, 0x84c87814U, 0x8cc70208U, 0x90befffaU, 0xa4506cebU, 0xbef9a3f7U, 0xc67178f2U};

/// The processor's own instructions (Intel SDM volume 2B: SHA256RNDS2, SHA256MSG1, SHA256MSG2).
struct Instructions {
  __attribute__((target("sha,sse4.1"), always_inline)) static __m128i rounds2(__m128i cdgh, __m128i abef, __m128i wk) {
    return _mm_sha256rnds2_epu32(cdgh, abef, wk);
  }
  __attribute__((target("sha,sse4.1"), always_inline)) static __m128i message1(__m128i a, __m128i b) {
    return _mm_sha256msg1_epu32(a, b);
  }
  __attribute__((target("sha,sse4.1"), always_inline)) static __m128i message2(__m128i a, __m128i b) {
    return _mm_sha256msg2_epu32(a, b);
  }
};

/// Takes `blocks` blocks of 64 bytes into `state`. Four rounds a turn; words[i % 4] holds the four
/// message words of turn i, prepared three turns ahead as the instructions want it.
template <typename Operations>
__attribute__((target("sha,sse4.1"))) void blocks_by_extensions(std::array<uint32_t, 8>& state, const char* at,
                                                                size_t blocks) {
  const auto word = [&](size_t i) { return static_cast<int>(state[i]); };
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i abef = _mm_set_epi32(word(0), word(1), word(4), word(5));
  __m128i cdgh = _mm_set_epi32(word(2), word(3), word(6), word(7));
  for (; blocks > 0; --blocks, at += 64) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i words[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i)
      words[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * i)), big_endian);
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; ++i) {
      __m128i& now = words[i % 4];
      __m128i& last = words[(i + 3) % 4];
      __m128i& next = words[(i + 1) % 4];
      const __m128i constants = _mm_loadu_si128(reinterpret_cast<const __m128i*>(round_constants.data() + 4 * i));
      const __m128i sum = _mm_add_epi32(now, constants);
      cdgh = Operations::rounds2(cdgh, abef, sum);
      if (i >= 3 && i < 15) {
        next = _mm_add_epi32(next, _mm_alignr_epi8(now, last, 4));
        next = Operations::message2(next, now);
      }
      abef = Operations::rounds2(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      if (i >= 1 && i < 13) last = Operations::message1(last, now);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  std::array<uint32_t, 4> high{};
  std::array<uint32_t, 4> low{};
  _mm_storeu_si128(reinterpret_cast<__m128i*>(high.data()), abef);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(low.data()), cdgh);
  state = {high[3], high[2], low[3], low[2], high[1], high[0], low[1], low[0]};
}

}  // namespace trainyard::sha256_detail
