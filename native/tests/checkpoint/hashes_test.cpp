// SHA-256 and CRC-32C against published values, and every way of computing them against the others.
#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "common/hash/crc32c.h"
#include "common/hash/sha256.h"
#include "common/hash/sha256_blocks.h"

namespace trainyard {
namespace {

std::string noise(size_t count) {
  std::string bytes(count, '\0');
  uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

class Sha256Kinds : public ::testing::TestWithParam<Sha256Kind> {
 protected:
  void SetUp() override {
    if (!sha256_has(GetParam())) GTEST_SKIP() << "this processor lacks the instructions";
  }
  static std::string hash(std::string_view bytes) {
    Sha256 hash(GetParam());
    hash.update(bytes);
    return hash.finish_hex();
  }
};

// The examples of FIPS 180-4 (NIST, "Cryptographic Standards and Guidelines: Example Values") and
// of RFC 6234, 8.5.
TEST_P(Sha256Kinds, published_values) {
  EXPECT_EQ(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      hash("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
           "nopqrstu"),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(hash(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_P(Sha256Kinds, agrees_with_the_portable_one_for_every_length_and_cut) {
  const std::string bytes = noise(300);
  for (size_t length = 0; length <= bytes.size(); ++length) {
    Sha256 portable(Sha256Kind::portable);
    Sha256 other(GetParam());
    portable.update(std::string_view(bytes).substr(0, length));
    const size_t cut = length * 3 / 7;
    other.update(std::string_view(bytes).substr(0, cut));
    other.update(std::string_view(bytes).substr(cut, length - cut));
    EXPECT_EQ(portable.finish_hex(), other.finish_hex()) << length;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Sha256Kinds,
                         ::testing::Values(Sha256Kind::portable, Sha256Kind::bmi2, Sha256Kind::sha_extensions));

// The SHA instructions as the Intel SDM (volume 2B) defines them, word by word, so that the block
// function written for them is tested on processors without them too. Words are numbered from the
// low end.
struct DefinedInstructions {
  using Words = std::array<uint32_t, 4>;
  static Words words(__m128i value) { return std::bit_cast<Words>(value); }

  static __m128i rounds2(__m128i cdgh, __m128i abef, __m128i wk) {
    auto [f, e, b, a] = words(abef);
    auto [h, g, d, c] = words(cdgh);
    const Words added = words(wk);
    for (size_t i = 0; i < 2; ++i) {
      const uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + added[i];
      const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    return std::bit_cast<__m128i>(Words{f, e, b, a});
  }
  static __m128i message1(__m128i low, __m128i high) {
    Words w = words(low);
    const Words next{w[1], w[2], w[3], words(high)[0]};
    for (size_t i = 0; i < 4; ++i) w[i] += std::rotr(next[i], 7) ^ std::rotr(next[i], 18) ^ (next[i] >> 3);
    return std::bit_cast<__m128i>(w);
  }
  static __m128i message2(__m128i sums, __m128i last) {
    const auto sigma = [](uint32_t x) { return std::rotr(x, 17) ^ std::rotr(x, 19) ^ (x >> 10); };
    Words w = words(sums);
    w[0] += sigma(words(last)[2]);
    w[1] += sigma(words(last)[3]);
    w[2] += sigma(w[0]);
    w[3] += sigma(w[1]);
    return std::bit_cast<__m128i>(w);
  }
};

TEST(Sha256Extensions, the_block_function_is_right_with_the_instructions_as_defined) {
  // "abc" padded to its one block.
  std::string block = "abc\x80" + std::string(59, '\0') + "\x18";
  std::array<uint32_t, 8> state{0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U, 0xa54ff53aU,
                                0x510e527fU, 0x9b05688cU, 0x1f83d9abU, 0x5be0cd19U};
  sha256_detail::blocks_by_extensions<DefinedInstructions>(state, block.data(), 1);
  const std::array<uint32_t, 8> expected{0xba7816bfU, 0x8f01cfeaU, 0x414140deU, 0x5dae2223U,
                                         0xb00361a3U, 0x96177a9cU, 0xb410ff61U, 0xf20015adU};
  EXPECT_EQ(state, expected);

  // Two blocks in one call, against the same two in two calls: what is carried from one to the
  // next.
  const std::string two = noise(128);
  std::array<uint32_t, 8> together = expected;
  std::array<uint32_t, 8> apart = expected;
  sha256_detail::blocks_by_extensions<DefinedInstructions>(together, two.data(), 2);
  sha256_detail::blocks_by_extensions<DefinedInstructions>(apart, two.data(), 1);
  sha256_detail::blocks_by_extensions<DefinedInstructions>(apart, two.data() + 64, 1);
  EXPECT_EQ(together, apart);
}

class Crc32cKinds : public ::testing::TestWithParam<Crc32cKind> {
 protected:
  void SetUp() override {
    if (GetParam() == Crc32cKind::sse42 && crc32c_best() != Crc32cKind::sse42)
      GTEST_SKIP() << "this processor lacks SSE4.2";
  }
};

// RFC 3720, appendix B.4, and the check value of CRC-32/ISCSI.
TEST_P(Crc32cKinds, published_values) {
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending.push_back(static_cast<char>(i));
  EXPECT_EQ(crc32c(std::string(32, '\0'), 0, GetParam()), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff'), 0, GetParam()), 0x62a8ab43U);
  EXPECT_EQ(crc32c(ascending, 0, GetParam()), 0x46dd794eU);
  EXPECT_EQ(crc32c(std::string(ascending.rbegin(), ascending.rend()), 0, GetParam()), 0x113fdb5cU);
  EXPECT_EQ(crc32c("123456789", 0, GetParam()), 0xe3069283U);
}

TEST_P(Crc32cKinds, agrees_with_the_tables_for_every_length_and_cut) {
  const std::string bytes = noise(200);
  for (size_t length = 0; length <= bytes.size(); ++length) {
    const std::string_view part = std::string_view(bytes).substr(0, length);
    const uint32_t begun = crc32c(part.substr(0, length / 3), 0, GetParam());
    EXPECT_EQ(crc32c(part.substr(length / 3), begun, GetParam()), crc32c(part, 0, Crc32cKind::portable)) << length;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Crc32cKinds, ::testing::Values(Crc32cKind::portable, Crc32cKind::sse42));

}  // namespace
}  // namespace trainyard
