// CRC-32C (Castagnoli; RFC 3720 appendix B.4), which guards the records of TFRecord and TensorBoard
// event files.
#pragma once
#include <cstdint>
#include <string_view>

namespace trainyard {

enum class Crc32cKind { portable, sse42 };

/// The fastest kind that this processor has.
Crc32cKind crc32c_best();

/// The CRC-32C of `bytes`, going on from `before` (the CRC of what came ahead of them).
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);

/// The same by a given kind, which the processor must have (tests compare the kinds with one
/// another).
uint32_t crc32c(std::string_view bytes, uint32_t before, Crc32cKind kind);

/// TFRecord's masked CRC: rotated right by 15 bits, plus a constant, so that the CRC of data that
/// contain CRCs stays useful (tensorflow/core/lib/hash/crc32c.h).
constexpr uint32_t mask_crc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

}  // namespace trainyard
