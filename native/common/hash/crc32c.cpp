#include "common/hash/crc32c.h"

#include <nmmintrin.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "common/cpu_features.h"

namespace trainyard {

namespace {

constexpr uint32_t reversed_polynomial = 0x82f63b78U;

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// Table 0 advances the CRC by one byte; table k by one byte and then k zero bytes, so that eight
// look-ups advance eight bytes at once ("slicing by 8", Kounavis and Berry 2005).
constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? reversed_polynomial : 0U);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k)
    for (size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xffU];
  return tables;
}

constexpr Tables tables = make_tables();

uint64_t load64(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

uint32_t by_tables(const char* at, size_t count, uint32_t crc) {
  for (; count >= 8; at += 8, count -= 8) {
    const uint64_t word = load64(at) ^ crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= tables[7 - k][(word >> (8 * k)) & 0xffU];
  }
  for (; count > 0; ++at, --count) crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<uint8_t>(*at)) & 0xffU];
  return crc;
}

__attribute__((target("sse4.2,crc32"))) uint32_t by_instruction(const char* at, size_t count, uint32_t crc) {
  uint64_t wide = crc;
  for (; count >= 8; at += 8, count -= 8) wide = _mm_crc32_u64(wide, load64(at));
  crc = static_cast<uint32_t>(wide);
  for (; count > 0; ++at, --count) crc = _mm_crc32_u8(crc, static_cast<uint8_t>(*at));
  return crc;
}

}  // namespace

Crc32cKind crc32c_best() {
  static const Crc32cKind best = cpu_features().sse42 ? Crc32cKind::sse42 : Crc32cKind::portable;
  return best;
}

uint32_t crc32c(std::string_view bytes, uint32_t before) { return crc32c(bytes, before, crc32c_best()); }

uint32_t crc32c(std::string_view bytes, uint32_t before, Crc32cKind kind) {
  const uint32_t start = ~before;
  return ~(kind == Crc32cKind::sse42 ? by_instruction(bytes.data(), bytes.size(), start)
                                     : by_tables(bytes.data(), bytes.size(), start));
}

}  // namespace trainyard
