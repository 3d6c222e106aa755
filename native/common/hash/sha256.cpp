#include "common/hash/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/cpu_features.h"
#include "common/hash/sha256_blocks.h"

namespace trainyard {

namespace {

using sha256_detail::round_constants;
using State = std::array<uint32_t, 8>;

uint32_t load_big_endian(const char* at) {
  uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return __builtin_bswap32(word);
}

// FIPS 180-4, section 6.2.2. The message schedule is kept in a ring of 16 words, in registers once
// unrolled.
__attribute__((always_inline)) inline void blocks_in_c(State& state, const char* at, size_t blocks) {
  for (; blocks > 0; --blocks, at += 64) {
    auto [a, b, c, d, e, f, g, h] = state;
    std::array<uint32_t, 16> w;
    uint32_t b_xor_c = b ^ c;
#pragma GCC unroll 64
    for (size_t t = 0; t < 64; ++t) {
      if (t < 16) {
        w[t] = load_big_endian(at + 4 * t);
      } else {
        const uint32_t w2 = w[(t - 2) % 16];
        const uint32_t w15 = w[(t - 15) % 16];
        w[t % 16] += (std::rotr(w2, 17) ^ std::rotr(w2, 19) ^ (w2 >> 10)) + w[(t - 7) % 16] +
                     (std::rotr(w15, 7) ^ std::rotr(w15, 18) ^ (w15 >> 3));
      }
      const uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                          round_constants[t] + w[t % 16];
      // Maj(a, b, c) = b ^ ((a ^ b) & (b ^ c)); this round's a ^ b is the next round's b ^ c.
      const uint32_t a_xor_b = a ^ b;
      const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + (b ^ (a_xor_b & b_xor_c));
      b_xor_c = a_xor_b;
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
    const State sums{a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i) state[i] += sums[i];
  }
}

void blocks_portable(State& state, const char* at, size_t blocks) { blocks_in_c(state, at, blocks); }

// The same source with rotations that leave their operand alone (RORX) and ANDN: a good part
// faster.
__attribute__((target("bmi,bmi2"))) void blocks_bmi2(State& state, const char* at, size_t blocks) {
  blocks_in_c(state, at, blocks);
}

}  // namespace

bool sha256_has(Sha256Kind kind) {
  static const CpuFeatures features = cpu_features();
  switch (kind) {
    case Sha256Kind::portable:
      return true;
    case Sha256Kind::bmi2:
      return features.bmi2;
    case Sha256Kind::sha_extensions:
      return features.sha;
  }
  return false;
}

Sha256Kind sha256_best() {
  if (sha256_has(Sha256Kind::sha_extensions)) return Sha256Kind::sha_extensions;
  return sha256_has(Sha256Kind::bmi2) ? Sha256Kind::bmi2 : Sha256Kind::portable;
}

void Sha256::take_blocks(const char* at, size_t blocks) {
  switch (kind_) {
    case Sha256Kind::portable:
      return blocks_portable(state_, at, blocks);
    case Sha256Kind::bmi2:
      return blocks_bmi2(state_, at, blocks);
    case Sha256Kind::sha_extensions:
      return sha256_detail::blocks_by_extensions<sha256_detail::Instructions>(state_, at, blocks);
  }
}

void Sha256::update(std::string_view bytes) {
  const size_t begun = total_ % 64;
  total_ += bytes.size();
  if (begun > 0) {
    const size_t part = std::min(bytes.size(), 64 - begun);
    std::copy_n(bytes.data(), part, pending_.data() + begun);
    bytes.remove_prefix(part);
    if (begun + part < 64) return;
    take_blocks(pending_.data(), 1);
  }
  take_blocks(bytes.data(), bytes.size() / 64);
  bytes.remove_prefix(bytes.size() / 64 * 64);
  std::copy_n(bytes.data(), bytes.size(), pending_.data());
}

std::string Sha256::finish_hex() {
  const uint64_t bits = total_ * 8;
  std::string end(1, '\x80');
  end.append((119 - total_ % 64) % 64, '\0');  // so that the length below ends a block
  for (int shift = 56; shift >= 0; shift -= 8) end.push_back(static_cast<char>(bits >> shift));
  update(end);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (const uint32_t word : state_)
    for (int shift = 28; shift >= 0; shift -= 4) hex.push_back(digits[(word >> shift) & 15U]);
  return hex;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish_hex();
}

}  // namespace trainyard
